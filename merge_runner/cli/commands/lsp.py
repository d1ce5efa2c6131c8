"""`merge-runner lsp`."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

import click

from merge_runner.cli.command import command as make
from merge_runner.cli.main import collect_as_a_server
from merge_runner.errors import missing_extra
from merge_runner.options.declaration import option
from merge_runner.options.output import OutputOptions


@dataclass(frozen=True)
class Options(OutputOptions):
    """The options of `lsp`."""

    tcp: str | None = option(
        "--tcp", metavar="[HOST:]PORT", help="An error: the server speaks on standard input and output alone."
    )


@make("lsp", Options, ignores=("warn_error", "quiet"))
def command(options: Options) -> int:
    """Serve editors over the Language Server Protocol: what lint finds in a text while it is typed.

    An editor starts this command, and speaks with it on standard input and output. Needs `merge-runner[lsp]`.
    """
    if options.tcp is not None:
        # Whoever reaches an address would be served the files of the user: the protocol knows no authentication.
        message = "--tcp is gone: everybody who reaches the address could read your files."
        advice = "Have the editor start `merge-runner lsp`; on another machine `ssh HOST merge-runner lsp`."
        raise click.UsageError(f"{message} {advice}")
    collect_as_a_server()
    from merge_runner.lsp.documents.open_documents import OpenDocuments

    try:
        from merge_runner.lsp.protocol.frames import serve
        from merge_runner.lsp.protocol.server import make_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise missing_extra("the language server needs pygls, which is not installed", "lsp") from None
    server = make_server(OpenDocuments(os.environ))
    # A copy: the server closes what it writes to, and this process flushes its standard output when it ends.
    with os.fdopen(os.dup(1), "wb") as output:
        serve(server, sys.stdin.buffer, output)
    return 0
