"""`merge-runner clean`."""

from __future__ import annotations

from merge_runner.cli.command import command as make
from merge_runner.cli.loading import project_root
from merge_runner.options.project import FolderOptions


@make("clean", FolderOptions, ignores=("warn_error",))
def command(options: FolderOptions) -> int:
    """Remove the folder of generated files; tables and data stay."""
    from merge_runner.api import clean
    from merge_runner.cli.display.messages import say

    removed = clean(project_root(options.project_dir), target_path=options.target_path)
    if not options.quiet:
        say("nothing to remove" if removed is None else f"removed {removed}")
    return 0
