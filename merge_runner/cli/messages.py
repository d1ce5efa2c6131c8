"""Messages to people, on standard error: coloured on a terminal, never with NO_COLOR, always with FORCE_COLOR."""

from __future__ import annotations

import os
import sys
from typing import Any

import click


def coloured() -> bool:
    """Whether messages may be coloured; `--no-use-colors` sets NO_COLOR, which wins over FORCE_COLOR."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or sys.stderr.isatty()


def styled(text: str, **style: Any) -> str:
    """`text` in click's style where messages are coloured, plain elsewhere."""
    return click.style(text, **style) if coloured() else text


def say(text: str) -> None:
    """Prints a line on standard error."""
    click.echo(text, err=True, color=coloured())
