"""The folder of everything generated: which one it is, and that no link of a check-out leads out of the project."""

from __future__ import annotations

import os
from pathlib import Path, PurePath

from merge_runner.errors import Problem, ProblemsError
from merge_runner.project.schema.settings import Settings
from merge_runner.text import Place


def target_path_of(root: Path, settings: Settings, option: str | None) -> str:
    """Return the path of the target folder, relative to the project: the one that the user has named, else the usual.

    One that is named may be anywhere but for the project's own folder; that of the settings is a folder of the project,
    without a link on the way. Raises ProblemsError.
    """
    if option is not None:
        folder = (root / option).resolve()
        if folder == root.resolve() or folder in root.resolve().parents:
            message = f'--target-path "{option}" is the project\'s own folder or one above it'
            raise _invalid(message, None, "generated files need a folder of their own")
        return option
    parts = PurePath(settings.target_path).parts
    place = (
        settings.places.place(("target-path",)) if settings.places and "target-path" in settings.places.data else None
    )
    for end in range(1, len(parts) + 1):
        path = "/".join(parts[:end])
        if os.path.islink(os.path.join(root, path)):  # noqa: PTH114, PTH118
            message = f'the target folder "{settings.target_path}" is not written through the link "{path}"'
            raise _invalid(message, place or Place(path, 1, 1), "remove the link, or name a folder with --target-path")
    if ".git" in parts:
        message = f'the target folder "{settings.target_path}" is in the repository of git'
        raise _invalid(message, place, "name another folder")
    return settings.target_path


def _invalid(message: str, place: Place | None, hint: str) -> ProblemsError:
    return ProblemsError([Problem("invalid-target-path", message, place, hint)])
