"""`merge-runner stream`."""

from __future__ import annotations

from merge_runner.cli.command import command as make
from merge_runner.options.nodes import StreamOptions


@make("stream", StreamOptions)
def command(options: StreamOptions) -> int:
    """Read the streams that feed the selected models, batch by batch, and merge each batch into all of them.

    Ctrl-C ends it after the batch that runs. A batch that did not end well comes again with the next start, and changes
    no table twice.
    """
    from merge_runner.cli.stream import stream_command

    return stream_command(options)
