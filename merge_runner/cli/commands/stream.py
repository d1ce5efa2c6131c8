"""`merge-runner stream`."""

from __future__ import annotations

from typing import Any

import click

from merge_runner.cli.command import Command
from merge_runner.cli.options import output_options, project_options, selection_options


@click.command("stream", cls=Command)
@click.option("--available-now", is_flag=True, help="Read what is available now, then stop.")
@click.option("--threads", type=click.IntRange(min=1), help="Models to run in parallel; default: the profile's.")
@selection_options
@project_options
@output_options
def command(**options: Any) -> int:
    """Read the streams that feed the selected models, batch by batch, and merge each batch into all of them.

    Ctrl-C ends it after the batch that runs. A batch that did not end well comes again with the next start, and changes
    no table twice.
    """
    from merge_runner.cli.stream import stream_command

    return stream_command(options)
