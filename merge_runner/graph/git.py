"""What git says of the repository of a project: which files have changed, and what is checked out."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.errors import Problem, ProblemsError
from merge_runner.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from subprocess import CompletedProcess

# Inside a git hook these name the repository, the index and the folder of the git command that runs the hook. The
# repository meant here is always the one that the project lies in.
_OF_THE_CALLER = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"})

_HASH = re.compile("[0-9a-f]{40,64}")


def changed_files(root: Path, ref: str) -> frozenset[str]:
    """The files under `root` that differ from commit `ref`: committed since, uncommitted, deleted, and untracked ones.

    Paths are relative to `root` with forward slashes, also where the project is a folder of a larger repository;
    ignored files are left out. ProblemsError without git, outside a repository, or for a `ref` git does not know.
    """
    if not ref or ref.startswith("-") or "\0" in ref:
        hint = "name a branch, a tag or a commit: git:main, git:HEAD~1"
        raise ProblemsError([Problem("bad-git-ref", f'"{ref}" is not a git revision', hint=hint)])
    # Only the hash is passed on, so that no text of the user's is where git expects options and ranges.
    commit = _git(root, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    if commit is None or not _HASH.fullmatch(commit.strip()):  # "^main" resolves too, to "^" and a hash
        _check_repository(root)
        hint = "a shallow clone lacks older commits: fetch it, as with `git fetch origin <branch>`"
        raise ProblemsError([Problem("unknown-git-ref", f'git knows no commit "{ref}"', hint=hint)])
    options = ("--name-only", "-z", "--relative", "--no-renames", "--no-ext-diff")
    tracked = _names(root, "diff", *options, commit.strip(), "--")
    untracked = _names(root, "ls-files", "--others", "--exclude-standard", "-z")
    return tracked | untracked


def _names(root: Path, *arguments: str) -> frozenset[str]:
    listed = _git(root, *arguments)
    if listed is None:
        _check_repository(root)
        raise ProblemsError([Problem("git-failed", f"`git {arguments[0]}` failed in {root}")])
    return frozenset(name for name in listed.split("\0") if name)


def _check_repository(root: Path) -> None:
    """ProblemsError with git's own words unless `root` lies in the work tree of a repository."""
    done = _run(root, "rev-parse", "--is-inside-work-tree")
    if done.returncode == 0 and done.stdout.strip() == b"true":
        return
    reason = done.stderr.decode("utf-8", "replace").strip() or "it lies outside the work tree"
    hint = "git:… compares with a commit of the repository that the project lies in"
    raise ProblemsError([Problem("no-git-repository", f"{root} is not in a git repository ({reason})", hint=hint)])


def _git(root: Path, *arguments: str) -> str | None:
    """What the command prints, or None where it fails."""
    done = _run(root, *arguments)
    return None if done.returncode else os.fsdecode(done.stdout)


def _run(root: Path, *arguments: str) -> CompletedProcess[bytes]:
    import subprocess  # a selection by git alone starts a process

    environment = {key: value for key, value in os.environ.items() if key not in _OF_THE_CALLER}
    # Reading must not wait for, or take, the lock by which git refreshes its index; messages are English for ours.
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    command = ["git", "-C", str(root), *arguments]
    try:
        return subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
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
        url, commit = _git(root, "remote", "get-url", "origin"), _git(root, "rev-parse", "--verify", "HEAD")
        branch, prefix = _git(root, "symbolic-ref", "--short", "-q", "HEAD"), _git(root, "rev-parse", "--show-prefix")
    except ProblemsError:
        return None
    if url is None or commit is None:
        return None
    public = re.sub(r"(?<=://)[^/@]*@", "", url.strip())
    return Checkout(public, commit.strip(), (branch or "").strip() or None, (prefix or "").strip())
