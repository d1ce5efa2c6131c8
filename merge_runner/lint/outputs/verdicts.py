"""The verdicts on the merges: a line for each, and its proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from merge_runner.columns import cut, one_line, padded, width
from merge_runner.lint.outputs.style import Style
from merge_runner.lint.report import Report, ReportedConjunct, ReportedMerge
from merge_runner.pruning.verdict import Verdict
from merge_runner.text import Place

_MANY = 30
"""From so many merges on, not all are listed, and never more."""

_REASON = 40
"""The least space for a reason; the target is left out where it has not."""

_COLUMN = 44
"""The widest that a conjunct may be to have its reason next to it."""

_COLOURS: dict[Verdict, str] = {"static": "green", "runtime": "green", "none": "red", "unknown": "yellow"}


def verdict_lines(report: Report, style: Style) -> Iterator[str]:
    """A line per merge: verdict, file, target, reason, by path; of many only those that nothing else reports."""
    merges = sorted(report.merges, key=_order)
    shown = merges
    if len(merges) >= _MANY:
        scans = [finding for finding in report.findings if "P001" in finding.codes]
        reported = {finding.merge or finding.place.path for finding in scans}
        shown = [merge for merge in merges if not bounded_or_meant(merge)]
        shown = [merge for merge in shown if merge.place not in reported and merge.path not in reported][:_MANY]
    path = max((width(_where(merge)) for merge in shown), default=0)
    target = max((width(one_line(merge.target)) for merge in shown), default=0)
    with_target = style.width - path - target - 13 >= _REASON
    below = style.wrap and style.width - path - 11 < _REASON
    for merge in shown:
        if below:
            yield f"{_verdict(merge, style, 7)}  {_where(merge)}"
            yield from (style.styled(line, dim=True) for line in style.lines(" " * 9 + _reason(merge)))
            continue
        front = padded(_where(merge), path) + "  "
        front += padded(one_line(merge.target), target) + "  " if with_target else ""
        reason = cut(_reason(merge), max(style.width - width(front) - 9, _REASON), style.ellipsis)
        yield f"{_verdict(merge, style, 7)}  {front}{style.styled(reason, dim=True)}"
    if len(shown) < len(merges):
        more = f"and {len(merges) - len(shown)} more: " if shown else ""
        yield style.styled(f"{more}-v lists every merge with its proof", dim=True)


def proofs(report: Report, style: Style) -> Iterator[str]:
    """Every merge with its proof, by path, a blank line between them."""
    for number, merge in enumerate(sorted(report.merges, key=_order)):
        if number:
            yield ""
        clauses = ", ".join(
            f"when {clause.kind.replace('_', ' ')}{' and …' if clause.conditional else ''} {clause.action}"
            for clause in merge.clauses
        ).replace("…", style.ellipsis)
        place = style.styled(_where(merge), bold=True)
        yield from style.lines(f"{_verdict(merge, style, 0)}  {place}  {_table(merge)}, {merge.merge_class}", 2)
        yield from style.lines(f"  {_reason(merge)}", 2)
        yield from (f"  {line}" for line in proof(merge, replace(style, width=style.width - 2)))
        if clauses:
            yield from (style.styled(line, dim=True) for line in style.lines(f"  {clauses}", 2))


def scan(merge: ReportedMerge, style: Style) -> str:
    """The verdict in a line: `scan of flights.fct (delta): none, because …`."""
    return f"scan of {_table(merge)}: {_verdict(merge, style, 0)}, {_reason(merge)}"


def proof(merge: ReportedMerge, style: Style) -> Iterator[str]:
    """A line per conjunct of ON: whether it prunes, its place and text, and why."""
    if not merge.conjuncts:
        return
    texts = [one_line(conjunct.text) for conjunct in merge.conjuncts]
    places = [f"{conjunct.line}:{conjunct.column}" for conjunct in merge.conjuncts]
    place = max(len(text) for text in places)
    widest = max((width(text) for text in texts if width(text) <= _COLUMN), default=0)
    if style.wrap and style.width - place - widest - 6 < _REASON:
        widest = -1  # each reason below its conjunct
    least = 0 if style.wrap else _COLUMN
    for conjunct, text, at in zip(merge.conjuncts, texts, places, strict=True):
        front = f"{_mark(conjunct, style)} {style.styled(f'{at:<{place}}', dim=True)}  "
        reason = style.styled(one_line(conjunct.reason), dim=True)
        if width(text) <= min(_COLUMN, widest):
            column = place + widest + 6
            yield from style.lines(f"{front}{padded(text, widest)}  {reason}".rstrip(), column)
        else:
            yield f"{front}{cut(text, max(style.width - place - 8, least), style.ellipsis)}"
            yield from style.lines(f"{' ' * (place + 6)}{reason}")


def by_place(merges: Sequence[ReportedMerge]) -> dict[Place | str, ReportedMerge]:
    """The merges by their places, and by their files."""
    by_path: dict[Place | str, ReportedMerge] = {merge.path: merge for merge in merges}
    return by_path | {merge.place: merge for merge in merges}


def bounded_or_meant(merge: ReportedMerge) -> bool:
    """Whether the scan is known to be bounded, or is meant to be full."""
    return merge.verdict in {"static", "runtime"} or (merge.verdict == "none" and merge.scans_all_on_purpose)


def _order(merge: ReportedMerge) -> tuple[str, int, int, int]:
    return merge.path, merge.cell or 0, merge.line, merge.column


def _where(merge: ReportedMerge) -> str:
    """The file of a merge; its place where a file may hold several."""
    alone = merge.container in ("model", "dbt", "sql")
    return one_line(merge.path if alone else f"{merge.place.text_name}:{merge.line}")


def _mark(conjunct: ReportedConjunct, style: Style) -> str:
    if conjunct.prunes is None:
        return style.styled("?", fg="yellow")
    if conjunct.prunes:
        return style.styled("✓" if style.unicode else "+", fg="green")
    return style.styled("✗" if style.unicode else "x", fg="red")


def _verdict(merge: ReportedMerge, style: Style, available: int) -> str:
    fg = "green" if merge.scans_all_on_purpose else _COLOURS[merge.verdict]
    return style.styled(f"{merge.verdict:<{available}}", fg=fg)


def _reason(merge: ReportedMerge) -> str:
    purpose = " (scan: full)" if merge.verdict == "none" and merge.scans_all_on_purpose else ""
    return one_line(merge.reason) + purpose


def _table(merge: ReportedMerge) -> str:
    return f"{one_line(merge.target)} ({merge.format or 'unknown format'})"
