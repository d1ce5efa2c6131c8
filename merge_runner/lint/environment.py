"""An environment that knows what was asked of it: what a report depends on beside files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


class RecordingEnv(Mapping[str, str]):
    """The variables of `env`; `asked` has those that were asked for, None for one that is not set."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self.asked: dict[str, str | None] = {}

    def __getitem__(self, name: str) -> str:
        self.asked[name] = self._env.get(name)
        return self._env[name]

    def __iter__(self) -> Iterator[str]:
        for name in self._env:
            self.asked[name] = self._env[name]
            yield name

    def __len__(self) -> int:
        return len(self._env)
