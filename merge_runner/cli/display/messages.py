"""Messages to people, on standard error: coloured on a terminal, never with NO_COLOR, always with FORCE_COLOR.

How they look is set by the options of a run of the command line (--log-format, -d, --no-use-colors), for the whole
process; so is what no message may show.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal, TextIO

import click

from merge_runner.columns import printable, printable_json, wrapped


@dataclass
class _Style:
    as_json: bool = False
    as_dbt: bool = False
    invocation_id: str = ""
    debug: bool = False
    plain: bool = False
    secrets: Callable[[], Iterable[str]] = tuple


_STYLE = _Style()
_TABLE = 160
"""Columns of a table of rows where standard output is no terminal."""


def reset_style() -> None:
    """Forget what `set_style` and `hide` have set: another run of the command line begins."""
    global _STYLE  # noqa: PLW0603 - messages are written from every thread of a run
    _STYLE = _Style()


def set_log_format(log_format: str) -> None:
    """Sets whether messages are JSON objects, and whose: `json` ours, `dbt-json` dbt's."""
    _STYLE.as_json = log_format != "text"
    _STYLE.as_dbt = log_format == "dbt-json"


def set_style(*, debug: bool | None = None, plain: bool | None = None, invocation_id: str | None = None) -> None:
    """Sets how messages look from here on; None leaves a setting as it is."""
    _STYLE.invocation_id = _STYLE.invocation_id if invocation_id is None else invocation_id
    _STYLE.debug = _STYLE.debug if debug is None else debug
    _STYLE.plain = _STYLE.plain if plain is None else plain


def hide(secrets: Callable[[], Iterable[str]]) -> None:
    """Says which texts nothing may show from here on: they are asked for whenever something is shown."""
    _STYLE.secrets = secrets


def concealed(text: str) -> str:
    """The text without secrets."""
    secrets = frozenset(_STYLE.secrets())
    if not secrets:
        return text
    from merge_runner.template.redact import redact

    return redact(text, secrets)


def terminal_columns(stream: TextIO | None) -> int | None:
    """Return how many columns the terminal has that a stream writes to ($COLUMNS wins); None without one."""
    try:
        if stream is None or not stream.isatty():
            return None
        columns = os.environ.get("COLUMNS", "")
        return (
            int(columns)
            if columns.isdecimal() and int(columns)
            else os.get_terminal_size(stream.fileno()).columns or None
        )
    except (OSError, ValueError):  # it is closed, or no file
        return None


def table_columns() -> int:
    """Return how wide a table of rows on standard output may be; where that is no terminal, 160 columns."""
    return terminal_columns(sys.stdout) or _TABLE


def shown_text(text: str) -> str:
    """Return a text as a terminal or a log may get it: without secrets and controls."""
    return printable(concealed(text))


def print_lines(lines: Iterable[str]) -> None:
    """Print the lines of a result as they are, without secrets and controls."""
    for line in lines:
        click.echo(shown_text(line))


def fitted(text: str, columns: int | None, hanging: int = 4) -> str:
    """Return the text with its lines broken between words where they are wider than `columns`; None: as it is.

    Lines that follow begin with `hanging` more blanks.
    """
    return text if columns is None else "\n".join(wrapped(text, columns, hanging))


def show(text: str, *, data: bool = False) -> None:
    """Print a line of what was asked for on standard output, without secrets.

    It is printable; `data`, such as a query, stays as it is where no terminal shows it.
    """
    text = concealed(text)
    if _STYLE.as_dbt:
        text = _dbt_line("ListCmdOut", text, "info")
    elif not data or terminal_columns(sys.stdout) is not None:
        text = printable(text)
    click.echo(text)


def show_text(text: str, hanging: int = 4) -> None:
    """Print text for people on standard output, without secrets, and as wide as the terminal."""
    text = printable(concealed(text), colours=may_colour(sys.stdout) or coloured())
    click.echo(fitted(text, terminal_columns(sys.stdout), hanging))


def debugging() -> bool:
    """Whether tracebacks are wanted."""
    return _STYLE.debug


def as_json() -> bool:
    """Whether messages are JSON objects, one in a line."""
    return _STYLE.as_json


def coloured() -> bool:
    """Whether messages may be coloured."""
    return not _STYLE.as_json and may_colour(sys.stderr)


def may_colour(stream: TextIO) -> bool:
    """Whether what is written to a stream may be coloured; `--no-use-colors` and NO_COLOR win over FORCE_COLOR."""
    if _STYLE.plain or os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def styled(text: str, **style: Any) -> str:
    """`text` in click's style where messages are coloured, plain elsewhere."""
    return click.style(text, **style) if coloured() else text


def say(text: str, level: Literal["debug", "info", "warn", "error"] = "info", *, hanging: int = 4, **data: Any) -> None:
    """Prints a line on standard error; with --log-format json an object of the shape that events have.

    On a terminal that is narrower, later lines begin with `hanging` more blanks.
    """
    if _STYLE.as_dbt:
        # dbt's lines are all on standard output.
        text = concealed(_with_place(text.strip(), data))
        click.echo(_dbt_line("MainEncounteredError" if level == "error" else "Note", text, level))
        return
    if _STYLE.as_json:
        now = datetime.now(timezone.utc).isoformat()
        concealed_data = {key: concealed(value) if isinstance(value, str) else value for key, value in data.items()}
        document = {"event": "message", "at": now, "level": level, "message": concealed(text.strip()), **concealed_data}
        text = printable_json(json.dumps(document, default=str))
    else:
        text = fitted(printable(concealed(text), colours=coloured()), terminal_columns(sys.stderr), hanging)
    click.echo(text, err=True, color=coloured())


def _with_place(text: str, data: Mapping[str, Any]) -> str:
    """A problem as one text: where it is, what is wrong, what to do."""
    place = ":".join(str(data[key]) for key in ("path", "line", "column") if data.get(key))
    code = f" [{data['code']}]" if data.get("code") else ""
    hint = f"\n    {data['hint']}" if data.get("hint") else ""
    return f"{place}: {text}{code}{hint}" if place else f"{text}{code}{hint}"


def _dbt_line(name: str, text: str, level: Literal["debug", "info", "warn", "error"]) -> str:
    from merge_runner.cli.display.dbt_line import dbt_line

    return dbt_line(name, text, level, _STYLE.invocation_id)


def counted(number: int, word: str, ending: str = "s") -> str:
    """`1 node`, `2 nodes`, `1,000 fixes`."""
    return f"{number:,} {word}" + ("" if number == 1 else ending)
