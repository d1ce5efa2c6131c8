"""What was not judged, in lines: the dbt models of which lint does not know the query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from merge_runner.columns import one_line
from merge_runner.lint.outputs.style import Style
from merge_runner.lint.report import NotJudged, Report

_MOST = 10
"""How many models a message names."""


@dataclass(frozen=True)
class Group:
    """The models of which the same was not judged and that have the same hint."""

    items: tuple[NotJudged, ...]

    @property
    def message(self) -> str:
        """What was not judged, for which files, and why."""
        named = ", ".join(f"{item.place.path} ({item.reason})" for item in self.items[:_MOST])
        more = f" and {len(self.items) - _MOST} more" if len(self.items) > _MOST else ""
        models = "1 model" if len(self.items) == 1 else f"{len(self.items)} models"
        return one_line(f"{self.items[0].what} not judged for {models}: {named}{more}")

    @property
    def hint(self) -> str | None:
        """What makes it known."""
        return self.items[0].hint


def groups(report: Report) -> Iterator[Group]:
    """Give the models that were not judged, those with the same rules and hint together."""
    found: dict[tuple[tuple[str, ...], str | None], list[NotJudged]] = {}
    for item in report.not_judged:
        found.setdefault((item.rules, item.hint), []).append(item)
    yield from (Group(tuple(items)) for items in found.values())


def lines(report: Report, style: Style) -> Iterator[str]:
    """Give a warning for each group, with its hint below."""
    for group in groups(report):
        yield from style.lines(f"{style.styled('warning:', fg='yellow', bold=True)} {group.message}", 4)
        if group.hint:
            yield from style.lines(f"  = {style.styled('help:', fg='cyan', bold=True)} {one_line(group.hint)}", 10)
