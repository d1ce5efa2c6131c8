"""The answer of an earlier run to one question about a whole project, without loading the project.

It is taken where no file that loading reads has changed, nor an environment variable that loading looked up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merge_runner.project.load.state import ProjectState
from merge_runner.project.syntax.environment import RecordingEnv
from merge_runner.store import Store, key, toolchain_hash


@dataclass(frozen=True)
class AnswerCache:
    """The place in the store for one answer about the project whose files are `state`."""

    state: ProjectState
    key: bytes
    store: Store

    @classmethod
    def of(
        cls,
        root: Path,
        question: Sequence[Any],
        env: Mapping[str, str],
        *,
        target_path: str | None,
        other_files: Sequence[Path],
    ) -> AnswerCache | None:
        """Return the place of the answer to a question, plain data, about the project at `root`.

        `other_files` are files outside of the project's folders that the answer depends on as well. None: its files
        cannot be read, or the environment names no cache folder.
        """
        store = Store.of_project(root, env)
        state = ProjectState.of(root, target_path, other_files) if store is not None else None
        if store is None or state is None:
            return None
        return cls(state, key(toolchain_hash(), str(root), state.digest, *question), store)

    def get(self, env: RecordingEnv) -> Any | None:
        """Return the answer, where the variables that loading looked up are the same; None: there is none."""
        entry = self.store.get(self.key, lambda _kind, name: env.for_templates.get(name))
        self.store.close()
        if entry is None:
            return None
        questions, answer = entry
        for _, name in questions:
            env.get(name)  # as loading would: what was asked for is never shown
        return answer

    def put(self, answer: Any, env: RecordingEnv) -> None:
        """Keep an answer that was made with `env`, if no file has changed meanwhile."""
        now = self.state.again()
        if now is not None and now.digest == self.state.digest:
            values = dict(env.reads)
            self.store.put(self.key, answer, [("env", name) for name in values], lambda _kind, name: values[name])
            self.store.write()
