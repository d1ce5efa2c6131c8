"""Runs a command in this process, as a terminal would, and keeps what it prints."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO

from merge_runner.cli.host import Host
from merge_runner.cli.main import main


@dataclass(frozen=True)
class CommandResult:
    """What a command leaves: its exit status, its result (standard output) and its messages (standard error)."""

    status: int
    output: str
    messages: str


def call(words: Sequence[str], host: Host) -> CommandResult:
    """Run a command. One at a time: standard output and how messages look are those of the process."""
    output, messages = StringIO(), StringIO()
    status = 0
    with redirect_stdout(output), redirect_stderr(messages):
        try:
            main(words, host)
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 2
    return CommandResult(status, output.getvalue().strip(), messages.getvalue().strip())
