"""The folder of the project that a command is about."""

from __future__ import annotations

from pathlib import Path


def project_root(project_dir: Path | None) -> Path:
    """The project's folder: that of --project-dir and no other, else the nearest one from here upwards."""
    from merge_runner.project.load.load import find_root

    return find_root(Path.cwd()) if project_dir is None else find_root(project_dir, upwards=False)
