"""The packages of a dbt project: declared again, installed and locked where they can be fetched."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from merge_runner.conversion.dbt.todo import Todo, in_file
from merge_runner.errors import Problems, ProblemsError
from merge_runner.project.install import install_packages
from merge_runner.project.load.package_files import UnsafePackage, package_settings
from merge_runner.project.load.package_files import package_files as files_of_package
from merge_runner.project.load.package_paths import DECLARING, FOLDER, LOCK
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project.syntax.yaml_tree import yaml_tree
from merge_runner.project_file import Boundary, read_file
from merge_runner.text import Place

Install = Callable[[Path], object]
"""Installs what a folder declares, as `install_packages` does. Raises ProblemsError."""
_COPIES = "packages"
"""The folder of the packages that the new project has itself."""
_DECLARED = DECLARING[0]
_VERSION = re.compile(r"\d+(\.\d+)*")


@dataclass
class PackageFiles:
    """The files of the packages of the new project by path, as texts, and what is left to decide."""

    contents: dict[str, str] = field(default_factory=dict)
    todos: list[Todo] = field(default_factory=list)


def package_files(root: Path, install: Install = install_packages) -> PackageFiles:
    """Return the packages of the dbt project at `root`. One that cannot be installed is left out.

    Those in folders, and those that dbt has installed from its hub, are copied into the new project.
    """
    files = PackageFiles()
    entries: list[dict[str, str]] = []
    for name in DECLARING:
        source = read_text(root / name, name, Problems(), Boundary(root))
        tree = yaml_tree(source, Problems()) if source is not None else None
        declared = tree.data.get("packages") if tree is not None and isinstance(tree.data, Mapping) else None
        for index, entry in enumerate(declared if isinstance(declared, list) else ()):
            if tree is None or not isinstance(entry, Mapping):
                continue
            place = tree.place(("packages", index))
            new = _entry(root, entry, place, files)
            if new is not None and _installs(new, files, place, install):
                entries.append(new)
    if entries:
        files.contents[_DECLARED] = _declaration(entries)
        with TemporaryDirectory(prefix="merge-runner-packages-") as scratch:
            _write(Path(scratch), files.contents)
            install(Path(scratch))
            for path in (LOCK, *_files(Path(scratch), FOLDER)):
                files.contents[path] = (Path(scratch) / path).read_text(encoding="utf-8")
    return files


def _entry(root: Path, entry: Mapping[str, Any], place: Place, files: PackageFiles) -> dict[str, str] | None:
    """Return what declares a package of dbt's in the new project."""
    if isinstance(local := entry.get("local"), str):
        return _copy(root / local, place, files)
    if isinstance(entry.get("git"), str) and entry.get("revision") is not None:
        return {key: str(entry[key]) for key in ("git", "revision", "subdirectory") if key in entry}
    name = entry.get("package")
    if isinstance(name, str) and (installed := root / FOLDER / name.rpartition("/")[2]).is_dir():
        hint = "declare its repository as `git`, and the version as `revision`"
        message = f"the package {name} is copied from what dbt has installed"
        files.todos.append(Todo("decide", message, place, hint, in_file(_DECLARED)))
        return _copy(installed, place, files)
    if isinstance(name, str) and isinstance(entry.get("version"), str) and _VERSION.fullmatch(entry["version"]):
        owner, _, repository = name.partition("/")
        git = f"https://github.com/{owner}/{repository.replace('_', '-')}.git"
        hint = "dbt's hub has another one where this is wrong"
        files.todos.append(
            Todo("decide", f"the repository of {name} is taken to be {git}", place, hint, in_file(_DECLARED))
        )
        return {"git": git, "revision": entry["version"]}
    hint = "write its repository as `git`, and a tag or commit as `revision`"
    package = name or entry.get("git") or "of this entry"
    files.todos.append(Todo("left-out", f"the package {package} is left out", place, hint))
    return None


def _copy(folder: Path, place: Place, files: PackageFiles) -> dict[str, str] | None:
    """Take the files of a package into the new project, and return what declares them there; None: they are unsafe."""
    try:
        name, _ = package_settings(folder)
        paths = files_of_package(folder) if folder.is_dir() else []
    except UnsafePackage as error:
        files.todos.append(Todo("left-out", f"the package in {folder} is left out: {error}", place, None))
        return None
    into = f"{_COPIES}/{name or 'without_name'}"
    for path in paths:
        files.contents[f"{into}/{path}"] = read_file(folder / path, Boundary(folder)).decode("utf-8", "replace")
    return {"local": into}


def _installs(entry: dict[str, str], files: PackageFiles, place: Place, install: Install) -> bool:
    """Whether a package can be installed; where not, what is wrong is left to decide."""
    with TemporaryDirectory(prefix="merge-runner-packages-") as scratch:
        _write(Path(scratch), {**files.contents, _DECLARED: _declaration([entry])})
        try:
            install(Path(scratch))
        except ProblemsError as error:
            for problem in error.problems:
                files.todos.append(Todo("left-out", problem.message, place, problem.hint))
            return False
    return True


def _declaration(entries: list[dict[str, str]]) -> str:
    return yaml.safe_dump({"packages": entries}, sort_keys=False, allow_unicode=True)


def _write(root: Path, contents: Mapping[str, str]) -> None:
    for path, text in contents.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def _files(root: Path, start: str) -> list[str]:
    files = (file for file in sorted((root / start).rglob("*")) if file.is_file())
    return [PurePosixPath(file.relative_to(root)).as_posix() for file in files]
