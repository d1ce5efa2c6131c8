"""Shows problems on standard error: place, what is wrong, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from merge_runner.cli.messages import say, styled
from merge_runner.errors import Problem, ProblemsError


def show_problems(problems: Sequence[Problem]) -> None:
    """Prints each problem as an error, and how many there are when there are several."""
    for problem in problems:
        _show(problem, "error", "red")
    if len(problems) > 1:
        say(f"{len(problems)} problems")


def show_warnings(problems: Iterable[Problem], as_errors: bool) -> None:
    """Prints each problem as a warning; `as_errors` (--warn-error) raises ProblemsError instead."""
    problems = list(problems)
    if problems and as_errors:
        raise ProblemsError(problems)
    for problem in problems:
        _show(problem, "warning", "yellow")


def _show(problem: Problem, word: str, colour: str) -> None:
    where = f"{styled(str(problem.place), bold=True)}: " if problem.place else ""
    say(f"{where}{styled(word, fg=colour)}: {problem.message} {styled(f'[{problem.code}]', dim=True)}")
    if problem.hint:
        say(f"    {problem.hint}")
