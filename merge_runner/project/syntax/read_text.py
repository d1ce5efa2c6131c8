"""Reads a text file of the project; what cannot be read is a problem, not a traceback."""

from __future__ import annotations

from pathlib import Path

from merge_runner.errors import Problems
from merge_runner.project_file import Boundary, RefusedFileError, read_file
from merge_runner.text import Place, SourceText, as_source


def read_text(file: str | Path, path: str, problems: Problems, boundary: Boundary | None) -> SourceText | None:
    """The text of a UTF-8 `file`, named `path` in places: newlines as `\\n`, no byte order mark; None on a problem.

    It is inside of the boundary; None is for a file that the user has named.
    """
    try:
        content = read_file(file, boundary)
    except RefusedFileError as error:
        problems.add(error.code, error.message, Place(path, 1, 1), error.hint)
        return None
    except OSError as error:
        problems.add("unreadable", f"cannot be read: {error.strerror or error}", Place(path, 1, 1))
        return None
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        place = _place(path, content, error.start)
        message = f"not UTF-8: byte 0x{content[error.start]:02x} at offset {error.start}"
        problems.add("not-utf8", message, place, "save the file as UTF-8")
        return None
    return SourceText(path, as_source(text))


def _place(path: str, content: bytes, offset: int) -> Place:
    """The place of a byte; what comes before it is UTF-8."""
    before = as_source(content[:offset].decode("utf-8"))
    line_start = before.rfind("\n") + 1
    return Place(path, before.count("\n") + 1, len(before) - line_start + 1)
