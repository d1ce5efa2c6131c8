"""Paths with wildcards: `*`, `?` and `[…]` match parts of one name, `**` any number of folders."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import PurePosixPath


def is_path(pattern: PurePosixPath, path: PurePosixPath) -> bool:
    """Does the pattern fit the whole path?"""
    return _fits(pattern.parts, path.parts, inside=False)


def holds_path(pattern: PurePosixPath, path: PurePosixPath) -> bool:
    """Does the pattern fit the path, or a folder that it lies in?"""
    return _fits(pattern.parts, path.parts, inside=True)


def _fits(pattern: tuple[str, ...], path: tuple[str, ...], inside: bool) -> bool:
    # Name by name, with all the places that the pattern may have come to: trying each `**` in turn may take for ever.
    reached = {0}
    for name in pattern:
        if name == "**":
            reached = set(range(min(reached), len(path) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(path) and _is_name(path[at], name)}
        if not reached:
            return False
    return inside or len(path) in reached


def _is_name(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)
