"""What a terminal shows of a text: nothing in it moves the cursor, its width is known, and lines end between words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_TAB = 4
_COLOUR = re.compile("\x1b\\[[0-9;]*m")
_WORD = re.compile(r"( *)([^ ]+)")
_NOT_SHOWN = re.compile("(\x1b\\[[0-9;]*m)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""A colour; and controls, marks of direction and separators of lines."""
_COMMAND = re.compile(r"(?m)^(?=(?:[^\S\n]|\x1b\[[0-9;]*m)*::)")
"""The runner of GitHub executes such a line, whatever blanks are before it (its ActionCommand.TryParseV2)."""
_OLD_COMMAND = re.compile(r"##(?=(?:vso)?\[)")
"""It executes this anywhere in a line (its ActionCommand.TryParse), and so does the agent of Azure."""


def printable(text: str, *, colours: bool = False) -> str:
    """Return a text as a terminal or the log of a job may get it: it moves no cursor, and is no command to a runner.

    Escapes show what is left out; `colours` stay where they are ours. A line that would be a command follows `| `.
    """
    text = text.replace("\r\n", "\n")
    text = _NOT_SHOWN.sub(lambda match: match[1] if match[1] and colours else _escaped(match[0]), text)
    if "::" in text:
        text = _COMMAND.sub("| ", text)
    return _OLD_COMMAND.sub("# #", text) if "##" in text else text


def printable_json(document: str) -> str:
    """Return a JSON document in ASCII that means the same, and in which no runner finds a command."""
    return _OLD_COMMAND.sub(r"#\\u0023", document) if "##" in document else document


def printable_xml(document: str) -> str:
    """Return an XML document that means the same, and that a terminal or the log of a job may get."""
    text = _NOT_SHOWN.sub(lambda match: "".join(f"&#{ord(char)};" for char in match[0]), document)
    return re.sub(r"(?m)^([^\S\n]*):(?=:)", r"\1&#58;", text).replace("##", "#&#35;")


def _escaped(text: str) -> str:
    return "".join(_escape(char) if char < " " or char > "~" else char for char in text)


def _escape(char: str) -> str:
    number = ord(char)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def cells(text: str) -> list[tuple[str, int]]:
    """For each character what is shown and how many columns that takes; a tab goes on to the next fourth column.

    Control and format characters (escape sequences, marks that turn the direction of writing) show as `?`.
    """
    if is_plain(text):
        return [(character, 1) for character in text]
    text_cells: list[tuple[str, int]] = []
    column = 0
    for character in text:
        to_tab = _TAB - column % _TAB
        cell = (" " * to_tab, to_tab) if character == "\t" else _cell(character)
        text_cells.append(cell)
        column += cell[1]
    return text_cells


@lru_cache(maxsize=4096)
def _cell(character: str) -> tuple[str, int]:
    """What is shown of any other character, and how many columns that takes."""
    category = unicodedata.category(character)
    if category in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
        return "?", 1
    if category in {"Mn", "Me"}:
        return character, 0
    return character, 2 if unicodedata.east_asian_width(character) in "WF" else 1


def one_line(text: str) -> str:
    """The text on one line: a run of blanks that holds a line's end becomes one blank."""
    joined = " ".join(part for part in (line.strip() for line in text.splitlines()) if part)
    if is_plain(joined):
        return joined
    return "".join(shown for shown, _ in cells(joined.replace("\t", " ")))


def width(text: str) -> int:
    """How many columns the text takes."""
    if is_plain(text):
        return len(text)
    return sum(columns for _, columns in cells(text))


def cut(text: str, limit: int, ellipsis: str) -> str:
    """Return the text, cut and ended by `ellipsis` where it takes more than `limit` columns."""
    if len(text) <= limit and is_plain(text):
        return text
    text_cells = cells(text)
    if sum(columns for _, columns in text_cells) <= limit:
        return "".join(shown for shown, _ in text_cells)
    head: list[str] = []
    used_columns, blank, before = 0, 0, 0
    for shown, columns in text_cells:
        if shown == " ":
            blank, before = len(head), used_columns
        if used_columns + columns > limit - len(ellipsis):
            break
        used_columns += columns
        head.append(shown)
    # Between words, unless that would leave less than half of the columns.
    return "".join(head[:blank] if 2 * before >= used_columns else head).rstrip() + ellipsis


def wrapped(text: str, columns: int, hanging: int = 0) -> list[str]:
    """Return the lines of a text within `columns` columns, broken between words.

    A line of the text keeps its own indentation, and what follows of it has `hanging` more blanks. A word that is wider
    than the columns has a line to itself. Colours (ANSI escape sequences) take no columns.
    """
    lines = []
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        lines += _wrapped(line, columns, indent + hanging)
    return lines


def _wrapped(line: str, columns: int, hanging: int) -> list[str]:
    measure = len if line.isascii() and line.isprintable() else _uncoloured_width
    if len(line) <= columns // 2 or measure(line) <= columns:
        return [line]
    hanging = min(hanging, columns // 2)
    lines, used, empty = [""], 0, True
    for blanks, word in _WORD.findall(line):
        word_columns = measure(word)
        if not empty and used + len(blanks) + word_columns > columns:
            lines.append(" " * hanging + word)
            used = hanging + word_columns
        else:
            lines[-1] += blanks + word
            used += len(blanks) + word_columns
        empty = False
    return lines


def _uncoloured_width(text: str) -> int:
    return width(_COLOUR.sub("", text))


def padded(text: str, columns: int) -> str:
    """Return the text padded with blanks to `columns` columns."""
    return text + " " * (columns - width(text))


def is_plain(text: str) -> bool:
    """Return whether each character shows as itself, in one column: most texts are so, and are many."""
    return text.isascii() and text.isprintable()
