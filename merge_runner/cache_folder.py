"""The user's cache folder: what is kept between runs is there, never in a check-out, whose files may be hostile."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "MERGE_RUNNER_CACHE_DIR"


def cache_folder(env: Mapping[str, str]) -> Path | None:
    """Return $MERGE_RUNNER_CACHE_DIR, else merge-runner below $XDG_CACHE_HOME or the home's .cache.

    None where the environment says nothing of these.
    """
    if env.get(VARIABLE):
        return Path(env[VARIABLE])
    if env.get("XDG_CACHE_HOME"):
        return Path(env["XDG_CACHE_HOME"]) / "merge-runner"
    home = env.get("HOME") or env.get("USERPROFILE")
    return Path(home) / ".cache" / "merge-runner" if home else None


def project_store(root: Path, env: Mapping[str, str]) -> Path | None:
    """Return the file with what is kept of the project whose real path is that of `root`; None: there is no folder.

    Two check-outs never share one, and a link to a project has the file of what it leads to.
    """
    folder = cache_folder(env)
    if folder is None:
        return None
    real = os.fsencode(os.path.realpath(root))
    return folder / "projects" / f"{hashlib.blake2b(real, digest_size=16).hexdigest()}.sqlite"


def make_private_folder(folder: Path) -> None:
    """Make a folder that other users cannot read, unless it is there. Raises OSError as `check_private` does."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_private(folder)


def check_private(folder: Path) -> None:
    """Raise PermissionError for a folder of another user, or one that others may write: they could forge its files."""
    if hasattr(os, "geteuid"):
        status = folder.stat()
        if status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise PermissionError(f"{folder} can be written by other users")
