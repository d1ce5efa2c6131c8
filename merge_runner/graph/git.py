"""What git says of the repository of a project: which files have changed, and what is checked out."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.errors import Problem, ProblemsError
from merge_runner.git_command import run_git

if TYPE_CHECKING:
    from subprocess import CompletedProcess

_HASH = re.compile("[0-9a-f]{40,64}")


def changed_files(root: Path, ref: str) -> frozenset[str]:
    """The files under `root` that differ from commit `ref`: committed since, uncommitted, deleted, and untracked ones.

    Paths are relative to `root` with forward slashes, also where the project is a folder of a larger repository;
    ignored files are left out. ProblemsError without git, outside a repository, or for a `ref` git does not know.
    """
    if not ref or ref.startswith("-") or "\0" in ref:
        hint = "name a branch, a tag or a commit: git:main, git:HEAD~1"
        raise ProblemsError([Problem("bad-git-ref", f'"{ref}" is not a git revision', hint=hint)])
    _check_repository(root)
    # Only the hash is passed on, so that no text of the user's is where git expects options and ranges.
    commit = _git(root, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    if commit is None or not _HASH.fullmatch(commit.strip()):  # "^main" resolves too, to "^" and a hash
        hint = "a shallow clone lacks older commits: fetch it, as with `git fetch origin <branch>`"
        raise ProblemsError([Problem("unknown-git-ref", f'git knows no commit "{ref}"', hint=hint)])
    options = ["--name-only", "-z", "--relative", "--no-renames", "--no-ext-diff", "--no-textconv"]
    # Whether files of a submodule have changed is a question to another git, with the settings of the submodule.
    options.append("--ignore-submodules=dirty")
    tracked = _names(root, "diff", *options, commit.strip(), "--")
    untracked = _names(root, "ls-files", "--others", "--exclude-standard", "-z")
    return tracked | untracked


def _names(root: Path, *arguments: str) -> frozenset[str]:
    output = _git(root, *arguments)
    if output is None:
        raise ProblemsError([Problem("git-failed", f"`git {arguments[0]}` failed in {root}")])
    return frozenset(name for name in output.split("\0") if name)


def _check_repository(root: Path) -> None:
    """Raise ProblemsError unless `root` lies in the work tree of a repository whose folder is a `.git`."""
    process = _run(root, "rev-parse", "--is-inside-work-tree", "--absolute-git-dir")
    is_inside, _, folder = os.fsdecode(process.stdout).rstrip("\n").partition("\n")
    if process.returncode:
        reason = process.stderr.decode("utf-8", "replace").strip()
    elif is_inside != "true":
        reason = "it lies outside the work tree"
    elif _is_in(root, Path(folder)):
        # HEAD, objects, refs and config can be ordinary files of a commit. A git before 2.38 takes a folder that has
        # them for a repository, and does what its config says.
        reason = f"{folder} has the files of a repository"
    else:
        return
    hint = "git:… and --changed compare with a commit of the repository that the project lies in"
    raise ProblemsError([Problem("no-git-repository", f"{root} is not in a git repository ({reason})", hint=hint)])


def _is_in(path: Path, folder: Path) -> bool:
    path, folder = path.resolve(), folder.resolve()
    return path == folder or folder in path.parents


def _git(root: Path, *arguments: str) -> str | None:
    """Return what the command prints, or None where it fails."""
    process = _run(root, *arguments)
    return None if process.returncode else os.fsdecode(process.stdout)


def _run(root: Path, *arguments: str) -> CompletedProcess[bytes]:
    try:
        return run_git(root, *arguments)
    except OSError as error:
        hint = "install git, or select by state: instead"
        raise ProblemsError([Problem("no-git", f"git cannot be started: {error.strerror}", hint=hint)]) from error


@dataclass(frozen=True)
class Checkout:
    """The commit that is checked out: `prefix` is the project's folder in the repository, empty or with a slash."""

    url: str
    """The repository's address as `git remote get-url origin` prints it, without user and password."""
    commit: str
    branch: str | None
    prefix: str


def checkout(root: Path) -> Checkout | None:
    """Return what is checked out in the repository of `root`; None without git, a commit or a remote `origin`."""
    try:
        _check_repository(root)
        url, commit = _git(root, "remote", "get-url", "origin"), _git(root, "rev-parse", "--verify", "HEAD")
        branch, prefix = _git(root, "symbolic-ref", "--short", "-q", "HEAD"), _git(root, "rev-parse", "--show-prefix")
    except ProblemsError:
        return None
    if url is None or commit is None:
        return None
    public = re.sub(r"(?<=://)[^/@]*@", "", url.strip())
    return Checkout(public, commit.strip(), (branch or "").strip() or None, (prefix or "").strip())
