"""What was not judged, in lines: dbt models of which lint does not know the query, MERGEs that it cannot read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from merge_runner.columns import one_line
from merge_runner.lint.outputs.style import Style
from merge_runner.lint.outputs.summary import counted
from merge_runner.lint.report import JudgementGap, Report

_MOST = 10
"""How many models a message names."""


@dataclass(frozen=True)
class Group:
    """The models, or the places in files, of which the same was not judged and that have the same hint."""

    items: tuple[JudgementGap, ...]

    @property
    def message(self) -> str:
        """What was not judged, for which files, and why."""
        first = self.items[0]
        places = ", ".join(f"{_where(item)} ({item.reason})" for item in self.items[:_MOST])
        more = f" and {len(self.items) - _MOST} more" if len(self.items) > _MOST else ""
        subject = f"at {counted(len(self.items), 'place')}"
        if first.model is not None:
            subject = f"for {counted(len(self.items), 'model')}"
        return one_line(f"{first.what} not judged {subject}: {places}{more}")

    @property
    def hint(self) -> str | None:
        """What makes it known."""
        return self.items[0].hint


def groups(report: Report) -> Iterator[Group]:
    """Give what was not judged, models and places with the same rules and hint together."""
    by_cause: dict[tuple[bool, tuple[str, ...], str | None], list[JudgementGap]] = {}
    for item in report.not_judged:
        by_cause.setdefault((item.model is None, item.rules, item.hint), []).append(item)
    yield from (Group(tuple(items)) for items in by_cause.values())


def _where(item: JudgementGap) -> str:
    return item.place.path if item.container == "dbt" else str(item.place)  # a dbt model has all of it in its config


def lines(report: Report, style: Style) -> Iterator[str]:
    """Give a warning for each group, with its hint below."""
    for group in groups(report):
        yield from style.lines(f"{style.styled('warning:', fg='yellow', bold=True)} {group.message}", 4)
        if group.hint:
            yield from style.lines(f"  = {style.styled('help:', fg='cyan', bold=True)} {one_line(group.hint)}", 10)
