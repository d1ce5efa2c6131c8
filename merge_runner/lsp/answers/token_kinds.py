"""What a name can be for an editor's colors: an editor learns it before the first question."""

from typing import Literal

Kind = Literal["function", "class", "variable", "property", "parameter"]
"""Macros and built-ins; models, sources and CTEs; aliases and vars; columns; keywords of calls."""
KINDS: tuple[Kind, ...] = ("function", "class", "variable", "property", "parameter")
