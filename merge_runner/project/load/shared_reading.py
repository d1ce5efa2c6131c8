"""Reads the files of a project in several processes, as if this one had read them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from merge_runner.contributions import Contributions
from merge_runner.forked import in_parts, processes_for
from merge_runner.project.syntax.environment import also_asked, asked_of

_Item = TypeVar("_Item")
_Read = TypeVar("_Read")


@dataclass(frozen=True)
class SharedReading:
    """What reading looks at besides the files: the environment, and what earlier runs kept (None: nothing is kept)."""

    env: Mapping[str, str]
    kept: Contributions | None

    def read(
        self,
        items: Sequence[_Item],
        models: int,
        here: Callable[[Sequence[_Item]], object],
        there: Callable[[Sequence[_Item]], _Read],
        take: Callable[[_Read], bool],
    ) -> None:
        """Have all items read, which are about so many models.

        `here` reads items in this process: the first, which loads what reads the others, and then a part of these.
        Meanwhile `there` reads the other parts in forks, and `take` is called with what it returns, in the order of the
        items. Where that returns False, or a fork has failed, `here` reads the part.
        """
        if processes_for(models) > 1 and len(items) > 1:
            here(items[:1])
            items = items[1:]
            if self.kept is not None:
                self.kept.close()

        def in_fork(part: Sequence[_Item]) -> tuple[_Read, Mapping[str, str | None]]:
            read = there(part)
            if self.kept is not None:
                self.kept.write()
            return read, asked_of(self.env)

        with in_parts(in_fork, items, models) as parts:
            for part, read in parts:
                if read is None or not take(read[0]):
                    here(part)
                else:
                    also_asked(self.env, read[1])
