"""The formats in which a report is written, one module each."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Literal, get_args

from merge_runner.columns import printable, printable_json, printable_xml
from merge_runner.lint.outputs.style import Style
from merge_runner.lint.report import Report

Format = Literal["text", "concise", "json", "github", "gitlab", "sarif", "junit", "markdown"]
FORMATS: tuple[Format, ...] = get_args(Format)
_SHOWN = ("text", "concise", "markdown")
"""Formats that are read as they are: the others have escapes of their own."""


def render(
    report: Report,
    format: str,
    *,
    colour: Callable[..., str] | None = None,
    unicode: bool = True,
    width: int = 100,
    statistics: bool = False,
    verbose: bool = False,
    wrap: bool = False,
) -> str:
    """The report in one of FORMATS, without a newline at its end.

    `colour`, `unicode`, `width` and `wrap` are as in Style. Raises ValueError for another format.
    """
    if format not in FORMATS:
        raise ValueError(f"no such format: {format}")
    module = importlib.import_module(f"{__name__}.{format}")
    text: str = module.render(report, Style(colour, unicode, width, statistics, verbose, wrap))
    if format in _SHOWN:
        return printable(text, colours=colour is not None)
    return {"github": text, "junit": printable_xml(text)}.get(format, printable_json(text))
