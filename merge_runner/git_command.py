"""The one place where git is started: with the settings under which a check-out of a stranger runs no code."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from subprocess import CompletedProcess

# Settings of the command line win over those of every file.
_SETTINGS = (
    "safe.bareRepository=explicit",  # git 2.38: HEAD, objects and refs of a pull request are no repository
    "core.fsmonitor=false",  # a program, which git runs before it looks at a work tree
    f"core.hooksPath={os.devnull}",
    "protocol.ext.allow=never",  # `ext::COMMAND` is an address
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
)

# Inside of a hook these describe the repository of the git command that runs the hook, as `git rev-parse
# --local-env-vars` lists them, and what that command may write and compares with. Settings (GIT_CONFIG_COUNT,
# GIT_CONFIG_PARAMETERS) are the user's and stay, as git itself passes them on to a submodule.
_OF_THE_CALLER = frozenset(
    {
        *("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_IMPLICIT_WORK_TREE"),
        *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE"),
        *("GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_CONFIG"),
        *("GIT_NAMESPACE", "GIT_QUARANTINE_PATH", "GIT_EXTERNAL_DIFF"),
    }
)

_SET = {
    "GIT_OPTIONAL_LOCKS": "0",  # reading neither waits for the lock of the index, nor takes it
    "GIT_TERMINAL_PROMPT": "0",  # a question would wait for ever
    "LC_ALL": "C",  # messages are English, as ours are
}


def run_git(folder: Path, *arguments: str, timeout: float | None = None) -> CompletedProcess[bytes]:
    """Return git's exit status and output for a command in a folder; `timeout` is in seconds.

    Raise OSError where git cannot be started, and subprocess.TimeoutExpired.
    """
    settings = [word for setting in _SETTINGS for word in ("-c", setting)]
    return subprocess.run(
        ["git", "--no-pager", *settings, "-C", str(folder), *arguments],
        env={key: value for key, value in os.environ.items() if key not in _OF_THE_CALLER} | _SET,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout,
        check=False,
    )
