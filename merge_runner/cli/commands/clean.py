"""`merge-runner clean`."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.cli.command import command as make
from merge_runner.cli.loading import project_root
from merge_runner.options.declaration import flag
from merge_runner.options.project import FolderOptions


@dataclass(frozen=True)
class Options(FolderOptions):
    """The options of `clean`."""

    keep_runs: bool = flag("--keep-runs", help="Keep the records of runs, which `report` shows.")


@make("clean", Options, ignores=("warn_error",))
def command(options: Options) -> int:
    """Remove the folder of generated files; tables and data stay."""
    from merge_runner.api import clean
    from merge_runner.cli.display.messages import say

    root = project_root(options.project_dir)
    folder = clean(root, target_path=options.target_path, keep_runs=options.keep_runs)
    if not options.quiet:
        exception = ", but the records of runs" if options.keep_runs else ""
        say("nothing to remove" if folder is None else f"removed {folder}{exception}")
    return 0
