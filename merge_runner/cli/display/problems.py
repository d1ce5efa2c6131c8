"""Shows problems on standard error: place, what is wrong, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

from merge_runner.cli.display.messages import as_json, say, styled
from merge_runner.columns import printable
from merge_runner.errors import Problem, ProblemsError
from merge_runner.options.output import OutputOptions

if TYPE_CHECKING:
    from merge_runner.graph.graph import Graph
    from merge_runner.project.load.not_read import UnreadPart


class WarningsError(ProblemsError):
    """Warnings that --warn-error made errors."""


def show_problems(problems: Sequence[Problem]) -> None:
    """Prints each problem as an error, and how many there are when there are several."""
    for problem in problems:
        _show(problem, "error", "red")
    if len(problems) > 1:
        say(f"{len(problems)} problems", "error")


def show_warnings(problems: Iterable[Problem], as_errors: bool) -> None:
    """Prints each problem as a warning; `as_errors` (--warn-error) raises WarningsError instead."""
    problems = list(problems)
    if problems and as_errors:
        raise WarningsError(problems)
    for problem in problems:
        _show(problem, "warning", "yellow")


def show_not_read(items: Iterable[UnreadPart], options: OutputOptions) -> None:
    """Print one line for each thing that is not read, unless --quiet."""
    for item in () if options.quiet else items:
        if as_json():
            say(item.message, "info", event="problem", code=item.code, hint=item.hint, **asdict(item.place))
        else:
            place = styled(printable(item.where), bold=True)
            say(f"{place}: {styled('note', fg='cyan')}: {printable(item.message)}; {item.hint}")


def show_no_effect(graph: Graph, ids: Iterable[str], options: OutputOptions) -> None:
    """Print a warning for each of the models `ids` that says that it is incremental and is not."""
    show_warnings(graph.warnings_of(ids), as_errors=options.warn_error)


class ShownMessages:
    """Shows what is to be known in addition to a result; with --warn-error a warning ends the command."""

    def __init__(self, options: OutputOptions) -> None:
        self._options = options

    def not_read(self, items: Iterable[UnreadPart]) -> None:
        """Print what of a dbt project is not read."""
        show_not_read(items, self._options)

    def warn(self, problems: Sequence[Problem]) -> None:
        """Print warnings."""
        show_warnings(problems, as_errors=self._options.warn_error)

    def say(self, text: str, level: Literal["info", "warn"] = "info") -> None:
        """Print a line."""
        say(text, level)


def _show(problem: Problem, word: Literal["error", "warning"], colour: str) -> None:
    if as_json():
        place = asdict(problem.place) if problem.place else {}
        level: Literal["error", "warn"] = "error" if word == "error" else "warn"
        say(problem.message, level, event="problem", code=problem.code, hint=problem.advice, **place)
        return
    where = f"{styled(printable(str(problem.place)), bold=True)}: " if problem.place else ""
    say(f"{where}{styled(word, fg=colour)}: {printable(problem.message)} {styled(f'[{problem.code}]', dim=True)}")
    if problem.advice:
        say(f"    {printable(problem.advice)}")
