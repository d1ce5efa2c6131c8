"""Lines that a command has said of a project: said again where nothing has changed, without loading the project."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.contributions import Contributions, key, tool
from merge_runner.project.load.state import ProjectState, nearest_project, profiles_outside
from merge_runner.project.syntax.environment import RecordingEnv
from merge_runner.project.syntax.secret_names import secret_values, secret_vars

if TYPE_CHECKING:
    from merge_runner.project.load.files import ProjectFiles

_HOMES = ("HOME", "USERPROFILE")
"""Where profiles.yml may be; the path of a project may begin with it."""


@dataclass(frozen=True)
class KeptLines:
    """The answer to one question about a project whose files are `state`."""

    state: ProjectState
    key: bytes
    kept: Contributions

    @classmethod
    def of(
        cls,
        env: RecordingEnv,
        question: str,
        *,
        folder: Path | None,
        profiles_dir: Path | None,
        target_path: str | None,
    ) -> KeptLines | None:
        """Return the place of an answer to `question` about the project in `folder`.

        `folder` None: the nearest one from the working directory upwards. None where its files cannot be read, or where
        nothing is kept.
        """
        root = nearest_project(Path.cwd()) if folder is None else Path.cwd() / folder
        if root is None:
            return None
        kept = Contributions.of_project(root, env.whole)
        state = ProjectState.of(root, target_path, [profiles_outside(env.whole, profiles_dir)])
        if kept is None or state is None:
            return None
        return cls(state, key("lines", tool(), str(root), state.digest, question), kept)

    def get(self, env: RecordingEnv) -> list[str] | None:
        """Return the lines, where the environment variables that loading asked for are the same."""
        entry = self.kept.get(self.key, lambda _kind, name: env.given.get(name))
        self.kept.close()
        if entry is None:
            return None
        questions, lines = entry
        for _, name in questions:
            env.get(name)  # as loading would: what was asked for is never shown
        return [str(line) for line in lines]

    def put(self, lines: Sequence[str], files: ProjectFiles, env: RecordingEnv) -> None:
        """Keep the lines of the project `files`, if no file has changed since, and nothing in it is a secret."""
        values = dict(env.asked)
        if [*files.profile.secrets, *secret_values(values), *secret_vars(files.vars)] or _holds_value(lines, values):
            return
        now = self.state.again()
        if files.root != self.state.root or now is None or now.digest != self.state.digest:
            return
        self.kept.put(self.key, [("env", name) for name in values], lambda _kind, name: values[name], list(lines))
        self.kept.write()


def _holds_value(lines: Sequence[str], values: Mapping[str, str | None]) -> bool:
    """Return whether the lines have the value of an environment variable."""
    text = json.dumps(lines)
    return any(value and name not in _HOMES and json.dumps(value)[1:-1] in text for name, value in values.items())
