"""The files of a package: regular files in its folder, on paths without links, that its dbt_project.yml leads to."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PureWindowsPath
from typing import NoReturn

from merge_runner.errors import Problems
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project.syntax.yaml_tree import yaml_tree
from merge_runner.project_file import Boundary

PROJECT = "dbt_project.yml"
_LARGEST = 1 << 26
"""Bytes of all files of a package together; dbt_utils has 2^18."""


class UnsafePackage(Exception):  # noqa: N818  # a property of a package
    """A path or a file of a package leads out of its folder, or is no file: the text says which."""


def is_inner_path(path: str) -> bool:
    """Return whether a path is relative and stays below the folder that it begins in, on every system."""
    windows = PureWindowsPath(path)  # takes both separators, and knows drives
    return path != "" and not windows.anchor and ".." not in windows.parts and path.isprintable()


def inner_folder(folder: Path, path: str) -> Path:
    """Return a folder below another one. Raise UnsafePackage where the path leaves it, also by a link."""
    if not is_inner_path(path):
        raise UnsafePackage(f'"{path}" is not a path below its folder: relative, and without ".."')
    inner = folder
    for part in Path(path).parts:
        inner = inner / part
        if inner.is_symlink():
            raise UnsafePackage(f"{inner.relative_to(folder).as_posix()} is a link")
    return inner


def package_settings(folder: Path) -> tuple[str | None, Sequence[str]]:
    """Return the name of a package and its macro paths, as its dbt_project.yml has them. None: it has none.

    A name is letters, digits and underscores: it is that of a folder as well. Raise UnsafePackage where that file is a
    link, or a macro path leads out of the folder.
    """
    file = folder / PROJECT
    if not os.path.lexists(file):
        return None, ["macros"]
    _check_file(folder, PROJECT)
    source = read_text(file, PROJECT, Problems(), Boundary(folder))
    tree = yaml_tree(source, Problems()) if source is not None else None
    data = tree.data if tree is not None and isinstance(tree.data, Mapping) else {}
    name, paths = data.get("name"), data.get("macro-paths")
    paths = paths if isinstance(paths, list) and paths else ["macros"]
    is_name = isinstance(name, str) and name.isidentifier()
    return (name if is_name else None), [_macro_path(folder, str(path)) for path in paths]


def _macro_path(folder: Path, path: str) -> str:
    try:
        return inner_folder(folder, path).relative_to(folder).as_posix()
    except UnsafePackage as error:
        raise UnsafePackage(f"`macro-paths` of its {PROJECT}: {error}") from None


def macro_file_paths(folder: Path) -> list[str]:
    """Return the macro files of a package, relative to its folder, in order. Raise UnsafePackage."""
    paths = {path for start in package_settings(folder)[1] for path in _macros(folder, start)}
    total = 0
    for path in paths:
        total += _check_file(folder, path)
    if total > _LARGEST:
        raise UnsafePackage(f"its macro files have {total:,} bytes; at most {_LARGEST:,} are read")
    return sorted(paths)


def package_files(folder: Path) -> list[str]:
    """Return the files of a package that are installed: dbt_project.yml, licenses, macros. Raise UnsafePackage."""
    paths = [entry.name for entry in os.scandir(folder) if entry.name.startswith("LICENSE") or entry.name == PROJECT]
    for name in paths:
        _check_file(folder, name)
    return sorted({*paths, *macro_file_paths(folder)})


def _macros(folder: Path, start: str) -> Iterator[str]:
    """Yield the macro files below a folder. What begins with a dot is left out, as in a project."""
    top = folder / start
    if not top.is_dir():
        return
    for path, folders, files in os.walk(top, onerror=_unreadable):
        inner = Path(path)
        folders[:] = sorted(name for name in folders if name[0] != ".")
        for name in folders:
            if (inner / name).is_symlink():
                raise UnsafePackage(f"{(inner / name).relative_to(folder).as_posix()} is a link")
        for name in files:
            if name[0] != "." and name.endswith(".sql"):
                yield (inner / name).relative_to(folder).as_posix()


def _check_file(folder: Path, path: str) -> int:
    """Return the size of a regular file. Raise UnsafePackage for a link, a pipe or a device."""
    status = (folder / path).lstat()
    if not stat.S_ISREG(status.st_mode):
        raise UnsafePackage(f"{path} is {'a link' if stat.S_ISLNK(status.st_mode) else 'no regular file'}")
    return status.st_size


def _unreadable(error: OSError) -> NoReturn:
    raise UnsafePackage(f"{error.filename} cannot be read: {error.strerror or error}")
