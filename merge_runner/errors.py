"""Errors that a user can cause: each with a place, what is wrong and what to do; many are reported together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal, Protocol

from merge_runner.text import Place


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong.

    `code` is a kebab-case word that scripts and tests can rely on (`unknown-key`, `cycle`), `message` says what is
    wrong in one sentence without a full stop, `hint` what to do about it. `calls` says for a place in a macro where
    the macro was called: a text for each call that came to it.
    """

    code: str
    message: str
    place: Place | None = None
    hint: str | None = None
    calls: tuple[str, ...] = ()

    @property
    def advice(self) -> str | None:
        """The hint, and the call that led to the place."""
        if not self.calls:
            return self.hint
        more = f", and by {len(self.calls) - 1} more calls" if len(self.calls) > 2 else ""
        more = f", and from {self.calls[1]}" if len(self.calls) == 2 else more
        return joined_hints([self.hint, f"called at {self.calls[0]}{more}"])

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        return f"{where}{self.message} [{self.code}]" + (f"\n    {self.advice}" if self.advice else "")


class ProblemsError(Exception):
    """The command cannot go on (exit status 2): every problem that was found, in the order of their places."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=_by_place))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def missing_extra(message: str, extra: str) -> ProblemsError:
    """Return what to raise where a package of an extra of merge-runner is not installed; `message` says which."""
    return ProblemsError([Problem("missing-extra", message, hint=f"pip install 'merge-runner[{extra}]'")])


class Messages(Protocol):
    """Receives what is to be known in addition to a result, in the order in which it is found."""

    def warn(self, problems: Sequence[Problem]) -> None:
        """Receive warnings."""

    def say(self, text: str, level: Literal["info", "warn"] = "info") -> None:
        """Receive a line of text."""


class Problems:
    """Collects problems, so that a user sees all of them together."""

    def __init__(self) -> None:
        self._found: dict[Problem, dict[str, None]] = {}
        """Each problem without its calls, and these."""

    def __iter__(self) -> Iterator[Problem]:
        return iter([replace(problem, calls=tuple(calls)) for problem, calls in self._found.items()])

    def __len__(self) -> int:
        return len(self._found)

    def add(self, code: str, message: str, place: Place | None = None, hint: str | None = None) -> None:
        """Keeps a problem, once however often it is found."""
        self._found.setdefault(Problem(code, message, place, hint), {})

    def extend(self, problems: Iterable[Problem]) -> None:
        """Keep problems that were found elsewhere; one that several calls of a macro lead to is kept once."""
        for problem in problems:
            calls = self._found.setdefault(replace(problem, calls=()), {})
            calls.update(dict.fromkeys(problem.calls))

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect the problems of a ProblemsError raised inside, and continue after the block."""
        try:
            yield
        except ProblemsError as error:
            self.extend(error.problems)

    def check(self) -> None:
        """Raises ProblemsError with all problems so far, if there are any."""
        if self._found:
            raise ProblemsError(self)


def joined_hints(hints: Iterable[str | None]) -> str | None:
    """Return the hints that are not empty as one."""
    joined = ""
    for hint in hints:
        if hint:
            joined += hint if not joined else f" {hint}" if joined.endswith("?") else f"; {hint}"
    return joined or None


_CLOSE = 0.65
"""How much of two words is the same (difflib's ratio): `biuld` and `build` 0.8, `clone` and `clean` 0.6."""


def nearest(word: str, words: Iterable[str]) -> str | None:
    """Return the known word that is closest to `word`, or None where nothing is close.

    Case makes no difference, so a word that differs in case alone is the closest.
    """
    folded: dict[str, str] = {}
    for candidate in words:
        folded.setdefault(candidate.casefold(), candidate)
    matches = get_close_matches(word.casefold(), folded, n=1, cutoff=_CLOSE)
    return folded[matches[0]] if matches else None


def did_you_mean(word: str, words: Iterable[str]) -> str | None:
    """A hint `did you mean "…"?`, or the known words where none is close and they are few; None otherwise."""
    words = sorted(words)
    match = nearest(word, words)
    if match is not None:
        return f'did you mean "{match}"?'
    if 0 < len(words) <= 12:
        return f"known are {', '.join(words)}"
    return None


def _by_place(problem: Problem) -> tuple[str, int, int]:
    place = problem.place
    return (place.path, place.line, place.column) if place else ("", 0, 0)
