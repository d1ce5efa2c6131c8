"""An environment that records its lookups: what a report depends on besides files, and what none may show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping


class RecordingEnv(Mapping[str, str]):
    """The variables of `env`; `asked` has those that were asked for, None for one that is not set."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.whole = env
        """The variables themselves: to look at them is not to ask."""
        self.asked: dict[str, str | None] = {}

    def __getitem__(self, name: str) -> str:
        self.asked[name] = self.whole.get(name)
        return self.whole[name]

    def __iter__(self) -> Iterator[str]:
        for name in self.whole:
            self.asked[name] = self.whole[name]
            yield name

    def __len__(self) -> int:
        return len(self.whole)


def variables_of(env: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables themselves: to look at them is not recorded."""
    return env.whole if isinstance(env, RecordingEnv) else env


def asked_of(env: Mapping[str, str]) -> Mapping[str, str | None]:
    """Return what was asked of an environment so far; nothing where that is not recorded."""
    return env.asked if isinstance(env, RecordingEnv) else {}


def also_asked(env: Mapping[str, str], asked: Mapping[str, str | None]) -> None:
    """Record what another process has asked of the same environment."""
    if isinstance(env, RecordingEnv):
        env.asked.update(asked)
