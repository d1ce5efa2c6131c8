"""What a terminal shows of a text: nothing in it moves the cursor, and its width is known."""

from __future__ import annotations

import unicodedata

_TAB = 4


def cells(text: str) -> list[tuple[str, int]]:
    """For each character what is shown and how many columns that takes; a tab goes on to the next fourth column.

    Control and format characters (escape sequences, marks that turn the direction of writing) show as `?`.
    """
    found: list[tuple[str, int]] = []
    column = 0
    for character in text:
        if character == "\t":
            shown, width = " " * (_TAB - column % _TAB), _TAB - column % _TAB
        elif unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
            shown, width = "?", 1
        elif unicodedata.category(character) in {"Mn", "Me"}:
            shown, width = character, 0
        else:
            shown, width = character, 2 if unicodedata.east_asian_width(character) in "WF" else 1
        found.append((shown, width))
        column += width
    return found


def one_line(text: str) -> str:
    """The text on one line: a run of blanks that holds a line's end becomes one blank."""
    joined = " ".join(part for part in (line.strip() for line in text.splitlines()) if part)
    return "".join(shown for shown, _ in cells(joined.replace("\t", " ")))


def width(text: str) -> int:
    """How many columns the text takes."""
    return sum(columns for _, columns in cells(text))


def cut(text: str, room: int, ellipsis: str) -> str:
    """What is shown of the text, its start and `ellipsis` where it takes more than `room` columns."""
    found = cells(text)
    if sum(columns for _, columns in found) <= room:
        return "".join(shown for shown, _ in found)
    kept, taken = [], len(ellipsis)
    for shown, columns in found:
        taken += columns
        if taken > room:
            break
        kept.append(shown)
    return "".join(kept).rstrip() + ellipsis


def padded(text: str, room: int) -> str:
    """The text with blanks behind it, up to `room` columns."""
    return text + " " * (room - width(text))
