"""Installs the packages of a project: copies of folders and of commits of repositories, each with its checksum."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from merge_runner.atomic import write_atomic
from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.git_command import run_git
from merge_runner.project.load.package_files import UnsafePackage, inner_folder, package_files, package_settings
from merge_runner.project.load.package_paths import FOLDER, LOCK
from merge_runner.project.load.packages import (
    DeclaredPackage,
    LockedPackage,
    checksum,
    declared_packages,
    lock_text,
    macro_files,
    read_lock,
    unsafe,
)
from merge_runner.project_file import Boundary, read_file

_SECONDS = 300
_WHERE = "a local folder is relative to the project, `subdirectory` to the repository"


def install_packages(
    root: Path, *, upgrade: bool = False, notify: Callable[[str], None] = lambda _: None
) -> tuple[LockedPackage, ...]:
    """Install what the project at `root` declares into dbt_packages, and write packages.lock.

    A package that is locked is installed as it was locked, unless `upgrade`: then a revision that has moved, such as a
    branch, is followed. `local` packages are copied as they are now. Raises ProblemsError; what was installed
    stays then.
    """
    problems = Problems()
    packages = declared_packages(root, problems)
    former_locks = () if upgrade else read_lock(root, problems)
    problems.check()
    if not packages:
        return ()
    _check_folder(root / FOLDER)
    with TemporaryDirectory(prefix="merge-runner-packages-") as scratch:
        locked = []
        for number, package in enumerate(packages):
            former_lock = next((lock for lock in former_locks if lock.declared == package.as_json), None)
            try:
                folder, commit = _source(root, package, former_lock, Path(scratch) / str(number), notify)
                locked.append(_install(package, folder, Path(scratch) / FOLDER, former_lock, commit))
            except UnsafePackage as error:
                raise ProblemsError([unsafe(package, error)]) from None
        _check_names(locked, packages)
        # Only now, when all have been fetched and checked, what was installed goes. The lock is written last: if this
        # is broken off in between, it does not fit the files, and the next command says so.
        if (root / FOLDER).exists():
            shutil.rmtree(root / FOLDER)
        shutil.copytree(Path(scratch) / FOLDER, root / FOLDER)
    write_atomic(root / LOCK, lock_text(locked))
    return tuple(locked)


def _check_folder(folder: Path) -> None:
    """Raise ProblemsError where the folder that is emptied and written is a link or a file."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        kind = "a link" if folder.is_symlink() else "a file"
        message = f"{folder.name} is {kind}, and no folder of the project"
        raise ProblemsError([Problem("unsafe-folder", message, hint="remove it: `merge-runner deps` makes the folder")])


def _source(
    root: Path, package: DeclaredPackage, before: LockedPackage | None, folder: Path, notify: Callable[[str], None]
) -> tuple[Path, str | None]:
    """Return the folder that has the files of a package, and the commit of a repository, fetched into `folder`.

    Raises ProblemsError and UnsafePackage.
    """
    if package.git is None:
        source = inner_folder(root, package.local or "")
        if not source.is_dir():
            raise _failure(package, f"there is no folder {package.local}", "it is relative to the project")
        return source, None
    revision = before.commit if before is not None and before.commit else package.revision or "HEAD"
    notify(f"fetching {package.git} at {revision}")
    folder.mkdir()
    _git(package, folder, "init", "--quiet")
    # What has priority over the .gitattributes of the package: files come as they are in the commit, and no filter that
    # the user has set up for other repositories runs.
    attributes = folder / ".git" / "info" / "attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text("* -filter -ident -text -working-tree-encoding\n", encoding="utf-8")
    try:
        _git(package, folder, "fetch", "--quiet", "--depth", "1", "--", package.git, revision)
    except ProblemsError:
        # Not every server gives a commit that no branch or tag names.
        _git(package, folder, "fetch", "--quiet", "--tags", "--", package.git, "+refs/heads/*:refs/remotes/origin/*")
        _git(package, folder, "checkout", "--quiet", "--detach", revision)
    else:
        _git(package, folder, "checkout", "--quiet", "--detach", "FETCH_HEAD")
    commit = _git(package, folder, "rev-parse", "HEAD").strip()
    return inner_folder(folder, package.subdirectory or "."), commit


def _git(package: DeclaredPackage, folder: Path, *arguments: str) -> str:
    try:
        process = run_git(folder, *arguments, timeout=_SECONDS)
    except OSError:
        raise _failure(package, "git is not installed", "install git, or copy the package and write `local`") from None
    except subprocess.TimeoutExpired:
        raise _failure(package, f"git took more than {_SECONDS} seconds", None) from None
    if process.returncode:
        lines = process.stderr.decode("utf-8", "replace").strip().splitlines()
        raise _failure(package, f"git: {lines[-1] if lines else 'it failed'}", "check `git` and `revision`")
    return os.fsdecode(process.stdout)


def _install(
    package: DeclaredPackage, source: Path, into: Path, before: LockedPackage | None, commit: str | None
) -> LockedPackage:
    name, _ = package_settings(source)
    if name is None:
        raise _failure(package, "it has no dbt_project.yml with a name", "`subdirectory` names the folder that has one")
    into.mkdir(exist_ok=True)
    target = into / name
    if target.exists():
        raise _failure(package, f"another package is named {name}", "keep one of them")
    target.mkdir()
    boundary = Boundary(source)
    for path in package_files(source):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_bytes(read_file(source / path, boundary))
    problems = Problems()
    own = checksum(macro_files(into.parent, f"{FOLDER}/{name}", problems), f"{FOLDER}/{name}")
    problems.check()
    if before is not None and package.git is not None and before.checksum != own:
        hint = f"the commit {before.commit} has other files than before: remove its entry from {LOCK} to take them"
        raise _failure(package, "its checksum is not the locked one", hint)
    return LockedPackage(name, package.as_json, own, commit)


def _check_names(locked: Sequence[LockedPackage], packages: Sequence[DeclaredPackage]) -> None:
    for lock, package in zip(locked, packages, strict=True):
        if lock.name in ("dbt", "merge_patterns"):
            raise _failure(package, f"{lock.name} is installed with merge-runner", "remove it")


def _failure(package: DeclaredPackage, message: str, hint: str | None) -> ProblemsError:
    return ProblemsError([Problem("package-failed", f"the package {package}: {message}", package.place, hint)])
