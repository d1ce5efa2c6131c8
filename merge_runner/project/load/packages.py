"""The packages of macros of a project: what packages.yml declares, what packages.lock pins, what is installed."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from merge_runner.errors import Problem, Problems
from merge_runner.project.load.package_files import UnsafePackage, inner_folder, is_inner_path, macro_file_paths
from merge_runner.project.load.package_paths import DECLARING, FOLDER, LOCK
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project.syntax.yaml_tree import YamlTree, yaml_tree
from merge_runner.project_file import Boundary, read_file
from merge_runner.text import Place, SourceText

_VERSION = 1
_INSTALL = "run `merge-runner deps`"
_COMMIT = re.compile("[0-9a-f]{40,64}")
_NO_ADDRESS = re.compile(r"^-|[\x00-\x1f\x7f]")
_NO_REVISION = re.compile(r"^[-+]|[\x00-\x20\x7f:?*\[\\^~]")
"""What no name of a branch or tag has (`git check-ref-format`): options and refspecs of git have it."""
_OF_HUB = "write the package's repository as `git`, and a tag or commit as `revision`"


@dataclass(frozen=True)
class DeclaredPackage:
    """A package as it is declared: a folder `local`, or a repository `git` at a `revision`, in a folder of it."""

    local: str | None = None
    git: str | None = None
    revision: str | None = None
    subdirectory: str | None = None
    place: Place | None = None

    @property
    def as_json(self) -> dict[str, str]:
        """What is declared, without its place."""
        return {key: value for key, value in asdict(self).items() if key != "place" and value is not None}

    def __str__(self) -> str:
        return self.local or f"{self.git}@{self.revision}"


@dataclass(frozen=True)
class LockedPackage:
    """A package as it was installed: its name, the commit of its repository, and a checksum of its macro files."""

    name: str
    declared: Mapping[str, str]
    checksum: str
    commit: str | None = None


def declared_packages(root: Path, problems: Problems) -> tuple[DeclaredPackage, ...]:
    """Return the packages that a project declares, with a problem for each that cannot be one."""
    packages: list[DeclaredPackage] = []
    boundary = Boundary(root)
    for name in DECLARING:
        source = read_text(root / name, name, problems, boundary) if os.path.lexists(root / name) else None
        tree = yaml_tree(source, problems) if source is not None else None
        entries = tree.data.get("packages") if tree is not None and isinstance(tree.data, Mapping) else None
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if tree is not None and (package := _declared_package(entry, tree, index, problems)) is not None:
                packages.append(package)
    return tuple(packages)


def _declared_package(entry: Any, tree: YamlTree, index: int, problems: Problems) -> DeclaredPackage | None:
    place = tree.place(("packages", index))
    keys = entry if isinstance(entry, Mapping) else {}
    if "package" in keys or "tarball" in keys:
        problems.add("unknown-package", "packages come from a folder or a repository of git", place, _OF_HUB)
        return None
    unknown = keys.keys() - {"local", "git", "revision", "subdirectory", "warn-unpinned"}
    texts = all(isinstance(value, str | int | float | bool) for value in keys.values())
    if unknown or not texts or ("local" in keys) is ("git" in keys):
        hint = "write `local: FOLDER`, or `git: URL` and `revision: TAG_OR_COMMIT`"
        problems.add("unknown-package", "this is no package", place, hint)
        return None
    if "git" in keys and "revision" not in keys:
        hint = "add `revision: TAG_OR_COMMIT`: a package without one would change by itself"
        problems.add("unpinned-package", f"the package {keys['git']} is not pinned", place, hint)
        return None
    if _NO_ADDRESS.search(str(keys.get("git", ""))) or _NO_REVISION.search(str(keys.get("revision", ""))):
        hint = "write the URL of a repository, and a tag, a branch or a commit"
        problems.add("unknown-package", "git takes this for no address or no revision", place, hint)
        return None
    for key in keys.keys() & {"local", "subdirectory"}:
        if not is_inner_path(str(keys[key])):
            message = f"`{key}` leads out of {'the project' if key == 'local' else 'the repository'}: {keys[key]}"
            hint = "write a relative path without `..`; a package of another folder has a repository, as `git`"
            problems.add("unsafe-package", message, tree.place(("packages", index, key)), hint)
            return None
    texts_of = {key: str(keys[key]) for key in ("local", "git", "revision", "subdirectory") if key in keys}
    return DeclaredPackage(**texts_of, place=place)


def read_packages(root: Path, problems: Problems) -> Mapping[str, tuple[SourceText, ...]]:
    """Return the macro files of the installed packages by name; a problem for what is not installed as it is locked."""
    packages = declared_packages(root, problems)
    if not packages:
        return {}
    locked = read_lock(root, problems)
    macros_of: dict[str, tuple[SourceText, ...]] = {}
    for package in packages:
        lock = next((locked_package for locked_package in locked if locked_package.declared == package.as_json), None)
        if lock is None or not (root / FOLDER / lock.name).is_dir():
            problems.add("missing-package", f"the package {package} is not installed", package.place, _INSTALL)
            continue
        try:
            sources = macro_files(root, f"{FOLDER}/{lock.name}", problems)
        except UnsafePackage as error:
            problems.extend([unsafe(package, error)])
            continue
        if checksum(sources, f"{FOLDER}/{lock.name}") != lock.checksum:
            message = f"the package {lock.name} is not what {LOCK} has"
            problems.add("changed-package", message, package.place, f"{_INSTALL}: it installs the locked one")
        macros_of[lock.name] = sources
    return macros_of


def macro_files(root: Path, folder: str, problems: Problems) -> tuple[SourceText, ...]:
    """Return the macro files of an installed package. Raise UnsafePackage."""
    inner = inner_folder(root, folder)
    boundary = Boundary(inner)
    sources = (read_text(inner / path, f"{folder}/{path}", problems, boundary) for path in macro_file_paths(inner))
    return tuple(source for source in sources if source is not None)


def unsafe(package: DeclaredPackage, error: UnsafePackage) -> Problem:
    """Return the problem of a package whose files lead out of its folder."""
    hint = "a package has regular files in its own folder alone: mend it, or use another one"
    return Problem("unsafe-package", f"the package {package}: {error}", package.place, hint)


def checksum(sources: Sequence[SourceText], folder: str) -> str:
    """Return a checksum of macro files: of their paths in the package's folder, and of their texts."""
    digest = hashlib.sha256()
    for source in sources:
        digest.update(f"{source.path.removeprefix(folder)}\0{len(source.text)}\0{source.text}".encode())
    return f"sha256:{digest.hexdigest()}"


def read_lock(root: Path, problems: Problems) -> tuple[LockedPackage, ...]:
    """Return what packages.lock has; nothing where it is missing."""
    try:
        data = json.loads(read_file(root / LOCK, Boundary(root)))
        return tuple(_locked_package(entry) for entry in data["packages"])
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        problems.add("bad-lock", f"{LOCK} cannot be read", Place(LOCK, 1, 1), f"remove it and {_INSTALL}")
        return ()


def _locked_package(entry: Mapping[str, Any]) -> LockedPackage:
    """Return an entry of packages.lock. Raise ValueError where its name is none of a folder, or its commit no hash."""
    name, commit = str(entry["name"]), entry.get("commit")
    if not name.isidentifier() or not (commit is None or _COMMIT.fullmatch(commit)):
        raise ValueError(name)
    return LockedPackage(name, dict(entry["declared"]), str(entry["checksum"]), commit)


def lock_text(locked: Sequence[LockedPackage]) -> str:
    """Return the text of packages.lock."""
    packages = [{key: value for key, value in asdict(package).items() if value is not None} for package in locked]
    return json.dumps({"version": _VERSION, "packages": packages}, indent=2, ensure_ascii=False) + "\n"
