"""How an output looks: what the command line hands in, as this package knows neither terminal nor colours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from merge_runner.columns import wrapped


@dataclass(frozen=True)
class Style:
    """`colour` styles a text as `click.style` does; None: plain. `width` is the terminal's, in columns.

    `wrap`: lines that are wider than that are broken between words; False for what no terminal shows.
    `unicode` says that the output's encoding carries `✓` and `…`; else ASCII replaces them. `statistics` adds the
    counts by rule, `verbose` the proof of every verdict.
    """

    colour: Callable[..., str] | None = None
    unicode: bool = True
    width: int = 100
    statistics: bool = False
    verbose: bool = False
    wrap: bool = False

    def styled(self, text: str, *, fg: str | None = None, bold: bool | None = None, dim: bool | None = None) -> str:
        """`text` in a colour (a name of click's), bold or dim."""
        return self.colour(text, fg=fg, bold=bold, dim=dim) if self.colour else text

    def lines(self, text: str, hanging: int = 0) -> list[str]:
        """Return `text` as the lines that are shown of it; those after the first begin with `hanging` more blanks."""
        return wrapped(text, self.width, hanging) if self.wrap else [text]

    @property
    def ellipsis(self) -> str:
        """What marks the end of a cut text."""
        return "…" if self.unicode else "..."
