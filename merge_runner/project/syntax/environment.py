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
