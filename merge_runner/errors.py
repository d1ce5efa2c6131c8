"""Errors that a user can cause: each with a place, what is wrong and what to do; many are reported at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches

from merge_runner.text import Place


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    `code` is a kebab-case word that scripts and tests can rely on (`unknown-key`, `cycle`), `message` says what is
    wrong in one sentence without a full stop, `hint` what to do about it.
    """

    code: str
    message: str
    place: Place | None = None
    hint: str | None = None

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.message} [{self.code}]" + (f"\n    {self.hint}" if self.hint else "")


class ProblemsError(Exception):
    """The command cannot go on (exit status 2): every problem that was found, in the order of their places."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=_by_place))
        super().__init__("\n".join(str(problem) for problem in self.problems))


class Problems:
    """Collects problems, so that a user sees all of them at once."""

    def __init__(self) -> None:
        self._found: dict[Problem, None] = {}

    def __iter__(self) -> Iterator[Problem]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def add(self, code: str, message: str, place: Place | None = None, hint: str | None = None) -> None:
        """Keeps a problem, once however often it is found."""
        self._found[Problem(code, message, place, hint)] = None

    def extend(self, problems: Iterable[Problem]) -> None:
        """Keeps problems that were found elsewhere."""
        self._found.update(dict.fromkeys(problems))

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Takes over the problems of a ProblemsError raised inside, and goes on behind the block."""
        try:
            yield
        except ProblemsError as error:
            self.extend(error.problems)

    def check(self) -> None:
        """Raises ProblemsError with all problems so far, if there are any."""
        if self._found:
            raise ProblemsError(self._found)


_CLOSE = 0.65
"""How much of two words is the same (difflib's ratio): `biuld` and `build` 0.8, `clone` and `clean` 0.6."""


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is closest to `word`, or None where nothing is close.

    Case makes no difference, so a word that differs in case alone is the closest.
    """
    folded: dict[str, str] = {}
    for each in known:
        folded.setdefault(each.casefold(), each)
    matches = get_close_matches(word.casefold(), folded, n=1, cutoff=_CLOSE)
    return folded[matches[0]] if matches else None


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint `did you mean "…"?`, or the known words where none is close and they are few; None otherwise."""
    known = sorted(known)
    match = nearest(word, known)
    if match is not None:
        return f'did you mean "{match}"?'
    if 0 < len(known) <= 12:
        return f"known are {', '.join(known)}"
    return None


def _by_place(problem: Problem) -> tuple[str, int, int]:
    place = problem.place
    return (place.path, place.line, place.column) if place else ("", 0, 0)
