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
    if not pattern:
        return inside or not path
    first, rest = pattern[0], pattern[1:]
    if first == "**":
        return any(_fits(rest, path[count:], inside) for count in range(len(path) + 1))
    return bool(path) and (path[0] == first or fnmatchcase(path[0], first)) and _fits(rest, path[1:], inside)
