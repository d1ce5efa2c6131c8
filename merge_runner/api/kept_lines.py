"""Lines that a command has said of a project: said again where nothing has changed, without loading the project."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.atomic import keep_newest, write_atomic
from merge_runner.contributions import key
from merge_runner.lazy_dataclass import dataclass
from merge_runner.plan.load.flags import Flags
from merge_runner.plan.load.loaded_state import LoadedState, holds_value
from merge_runner.project.load.state import nearest_project
from merge_runner.project.schema.secret_names import secret_values, secret_vars
from merge_runner.project.syntax.environment import RecordingEnv

if TYPE_CHECKING:
    from merge_runner.project.load.files import ProjectFiles

_KEPT = 20
"""Answers that stay: a project is asked a handful of different questions."""
_LOG = logging.getLogger("merge_runner.contributions")


@dataclass(frozen=True)
class KeptLines:
    """Where the answer to one question about the project at `root` is kept."""

    loaded: LoadedState
    question: bytes

    @classmethod
    def of(
        cls,
        env: RecordingEnv,
        question: str,
        *,
        folder: Path | None,
        profile: str | None,
        target: str | None,
        profiles_dir: Path | None,
        target_path: str | None,
    ) -> KeptLines | None:
        """Return the place of an answer to `question` about the project in `folder`.

        `folder` None: the nearest one from the working directory upwards. None where its files cannot be read.
        """
        root = nearest_project(Path.cwd()) if folder is None else Path.cwd() / folder
        if root is None:
            return None
        loaded = LoadedState.of(root, Flags(profile, target, profiles_dir, {}, target_path), env)
        return None if loaded is None else cls(loaded, key(loaded.key, loaded.state.digest, question))

    def get(self, env: RecordingEnv) -> list[str] | None:
        """Return the lines, where the environment variables that loading asked for are the same."""
        try:
            checksum, _, content = self._file.read_text(encoding="utf-8").partition("\n")
            if checksum != _checksum(content):
                return None
            asked, answers, lines = json.loads(content)
        except (OSError, ValueError):
            return None
        if answers != self.loaded.answers({name: env.whole.get(name) for name in asked}).hex():
            return None
        for name in asked:
            env.get(name)  # as loading would: what was asked for is never shown
        self.loaded.state.keep()
        return [str(line) for line in lines]

    def put(self, lines: Sequence[str], files: ProjectFiles, env: RecordingEnv) -> None:
        """Keep the lines of the project `files`, if no file has changed since, and nothing in it is a secret."""
        asked = dict(env.asked)
        content = json.dumps([sorted(asked), self.loaded.answers(asked).hex(), list(lines)])
        if [*files.profile.secrets, *secret_values(asked), *secret_vars(files.vars)] or holds_value(content, asked):
            return
        if files.root != self.loaded.state.root or not self.loaded.unchanged:
            return
        try:
            write_atomic(self._file, f"{_checksum(content)}\n{content}", synced=False)
            self.loaded.state.keep()
            keep_newest(self._file.parent, "*.json", _KEPT)
        except OSError as error:
            _LOG.debug("%s: %s; the answer is not kept", self._file, error)

    @property
    def _file(self) -> Path:
        return self.loaded.folder / f"{self.question.hex()}.json"


def _checksum(content: str) -> str:
    return hashlib.blake2b(content.encode(), digest_size=20).hexdigest()
