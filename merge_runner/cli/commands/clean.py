"""`merge-runner clean`."""

from __future__ import annotations

import shutil

from merge_runner.cli.command import command as make
from merge_runner.cli.project_root import project_root
from merge_runner.options.project import FolderOptions


@make("clean", FolderOptions, ignores=("warn_error",))
def command(options: FolderOptions) -> int:
    """Remove the folder of generated files; tables and data stay."""
    from merge_runner.cli.display.messages import say
    from merge_runner.errors import Problem, Problems, ProblemsError
    from merge_runner.project.load.load import read_settings

    root = project_root(options.project_dir)
    settings = read_settings(root, Problems())
    target = (root / (options.target_path or settings.target_path)).resolve()
    if target == root.resolve() or root.resolve() not in target.parents:
        hint = "target-path must be a folder inside the project to be removed"
        raise ProblemsError([Problem("clean-outside", f"{target} is not below {root}: nothing was removed", hint=hint)])
    own = (*settings.model_paths, *settings.macro_paths, *settings.test_paths, *settings.seed_paths)
    for path in (root / name for name in own):
        if path.exists() and (path.resolve() == target or target in path.resolve().parents):
            hint = "target-path must be a separate folder to be removed"
            message = f"{target} holds the project's own {path.name}: nothing was removed"
            raise ProblemsError([Problem("clean-outside", message, hint=hint)])
    there = target.is_dir()
    if there:
        shutil.rmtree(target)
    if not options.quiet:
        say(f"removed {target}" if there else "nothing to remove")
    return 0
