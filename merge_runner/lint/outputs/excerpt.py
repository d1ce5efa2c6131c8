"""An excerpt of the author's file: the lines of a place, with carets under it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from merge_runner.columns import cells, is_plain
from merge_runner.lint.outputs.style import Style
from merge_runner.text import Place

_FIRST, _LAST = 3, 1
"""How many lines are shown of the start and of the end of a place that covers more than both and one."""


def gutter(place: Place) -> int:
    """How many columns the line numbers take."""
    return len(str(place.end_line or place.line))


def excerpt(text: str, place: Place, style: Style, fg: str) -> Iterator[str]:
    """The excerpt's lines; none where the text is empty or has no such place."""
    lines = text.split("\n")
    marks = list(_marks(lines, place))
    if not marks:
        return
    digits = gutter(place)
    empty = style.styled(" " * digits + " |", fg="blue", bold=True)
    before = marks[0][0]
    yield empty
    for number, start, end in marks:
        if number > before + 1:
            yield style.styled("." * max(digits, 3), fg="blue", bold=True)
        before = number
        shown, carets = _line(lines[number - 1], start, end, max(style.width - digits - 3, 20), style.ellipsis)
        edge = style.styled(f"{number:>{digits}} |", fg="blue", bold=True)
        yield f"{edge} {shown}".rstrip()
        if carets:
            yield f"{empty} {style.styled(carets, fg=fg, bold=True)}"
    yield empty


def _marks(lines: Sequence[str], place: Place) -> Iterator[tuple[int, int, int]]:
    """The lines to show, each with the 0-based columns where the carets start and end."""
    first, column = place.line, place.column
    if not 1 <= first <= len(lines) or lines == [""]:
        return
    last, stop = place.end_line or first, place.end_column or column + 1
    if last > len(lines):
        last, stop = len(lines), len(lines[-1]) + 1
    while last > first and not lines[last - 1][: stop - 1].strip():
        last -= 1
        stop = len(lines[last - 1].rstrip()) + 1
    if (last, stop) <= (first, column):
        last, stop = first, column + 1
    long = last - first + 1 > _FIRST + _LAST + 1
    for number in range(first, last + 1):
        if long and first + _FIRST <= number <= last - _LAST:
            continue
        line = lines[number - 1]
        start = min(column - 1, len(line)) if number == first else len(line) - len(line.lstrip())
        end = min(stop - 1, len(line)) if number == last else len(line.rstrip())
        yield number, start, max(end, start + 1) if number == first else end


def _line(line: str, start: int, end: int, available: int, ellipsis: str) -> tuple[str, str]:
    """What is shown of a line in `available` columns, and the carets below it."""
    if is_plain(line) and max(len(line), start + 1) <= available:
        return line, " " * start + "^" * max(min(end, len(line)) - start, 1) if end > start else ""
    # Thousands of places may be in one long line: no more of it is read than could be shown.
    near = max(start - 4 * available, 0)
    line, start, end = line[near : start + 4 * available], start - near, end - near
    shown = cells(line)
    edges = [0]
    for _, columns in shown:
        edges.append(edges[-1] + columns)
    left = edges[start]
    right = max(edges[min(end, len(shown))], left + 1)
    first, stop, mark = 0, len(shown), len(ellipsis)
    total = max(edges[-1], right)
    if total > available:
        inner = available - 2 * mark
        # A quarter of what is shown precedes the carets, or less where they would not fit after it.
        first_column = left - max(0, min(inner // 4, inner - (right - left)))
        if right <= available - mark or left <= inner // 4:
            first_column = 0
        first_column = max(min(first_column, total - available + mark), 0)
        first = next(index for index, edge in enumerate(edges) if edge >= first_column)
        last_column = edges[first] + available - (mark if first else 0)
        if total > last_column:
            stop = max(index for index, edge in enumerate(edges) if edge <= last_column - mark)
    text = "".join(character for character, _ in shown[first:stop])
    before, after = ellipsis if first else "", ellipsis if stop < len(shown) else ""
    if after:
        right = min(right, edges[stop])
    carets = " " * (len(before) + left - edges[first]) + "^" * (right - left)
    return f"{before}{text}{after}", carets if end > start else ""
