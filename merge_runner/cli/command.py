"""A command of `merge-runner`: its callback gets every shared option, and its help is as wide as the terminal."""

from __future__ import annotations

from typing import Any

import click

from merge_runner.cli.options import shared_defaults

_HELP_COLUMNS = 160
"""Help is not wider than this on a very wide terminal: longer lines are hard to read."""
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": _HELP_COLUMNS}


class Command(click.Command):
    """A command that may read any shared option: one that it does not declare has the value of an option not given.

    Code that several commands share (loading, selection, a run) reads options by name, so a command that leaves out a
    group of options must not leave out their names.
    """

    def invoke(self, ctx: click.Context) -> Any:
        """Call the callback with the command's parameters and the defaults of all shared options."""
        ctx.params = {**shared_defaults(), **ctx.params}
        return super().invoke(ctx)
