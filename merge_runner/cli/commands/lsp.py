"""`merge-runner lsp`."""

from __future__ import annotations

import gc
import os
import sys
from dataclasses import dataclass

import click

from merge_runner.cli.command import command as make
from merge_runner.errors import missing_extra
from merge_runner.options.declaration import option
from merge_runner.options.output import OutputOptions


@dataclass(frozen=True)
class Options(OutputOptions):
    """The options of `lsp`."""

    tcp: str | None = option(
        "--tcp", metavar="[HOST:]PORT", help="Listen there instead of on standard input; HOST: 127.0.0.1."
    )


@make("lsp", Options, ignores=("warn_error", "quiet"))
def command(options: Options) -> int:
    """Serve editors over the Language Server Protocol: what lint finds in a text while it is typed.

    An editor starts this command, and speaks with it on standard input and output. Needs `merge-runner[lsp]`.
    """
    gc.disable()  # until the first document was looked at: what is imported and loaded stays
    address = None if options.tcp is None else _address(options.tcp)
    from merge_runner.lsp.documents.looking_process import fork_to_look

    fork = fork_to_look(os.environ)  # before anything that it has no need of is imported
    from merge_runner.lsp.documents.first_looks import FirstLooks
    from merge_runner.lsp.documents.open_documents import OpenDocuments

    try:
        from merge_runner.lsp.protocol.frames import serve, serve_port
        from merge_runner.lsp.protocol.server import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise missing_extra("the language server needs pygls, which is not installed", "lsp") from None
    server = make_server(FirstLooks(OpenDocuments(os.environ), fork))
    if address is None:
        # A copy: the server closes what it writes to, and this process flushes its standard output when it ends.
        with os.fdopen(os.dup(1), "wb") as output:
            serve(server, sys.stdin.buffer, output)
    else:
        serve_port(server, *address)
    return 0


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise click.UsageError(f"--tcp takes [HOST:]PORT, for example 127.0.0.1:7777, and no {text!r}.")
    return host.strip("[]") or "127.0.0.1", int(port)
