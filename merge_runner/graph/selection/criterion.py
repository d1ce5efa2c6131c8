"""The syntax of one selection criterion: graph operators, a method, a value. What it matches is said elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf

from merge_runner.errors import Problem, ProblemsError

# As in dbt: an operator of digits and "+" is one only at the very start or end, so `m+1` is m and its children.
_SYNTAX = re.compile(
    r"(?P<both>@)?"
    r"(?:(?P<parents>\d*)\+)?"
    r"(?:(?P<method>[\w.-]+):)?"
    r"(?P<value>.*?)"
    r"(?:\+(?P<children>\d*))?",
    re.DOTALL,
)


_MOST_DIGITS = 10
"""Of a number of edges: one with more means all of them."""


@dataclass(frozen=True)
class Criterion:
    """A parsed criterion such as `2+tag:nightly+`."""

    text: str
    """As the user wrote it."""
    method: str
    arguments: tuple[str, ...]
    """The dotted parts after the method: ("meta", "owner") in `config.meta.owner:x`."""
    value: str
    parents: float = 0
    """How many edges up to follow; `math.inf` for all."""
    children: float = 0
    relatives: bool = False
    """`@`: the descendants, and all that these depend on."""


def parse_criterion(text: str) -> Criterion:
    """The criterion that `text` spells; ProblemsError where it is none."""
    match = _SYNTAX.fullmatch(text)
    if match is None or not match["value"]:
        hint = "write a name, or method:value"
        raise ProblemsError([Problem("bad-selection", f'there is no name and no value in "{text}"', hint=hint)])
    if match["both"] and match["children"] is not None:
        hint = f'"@" already takes all descendants: write "{text.rpartition("+")[0]}"'
        raise ProblemsError(
            [Problem("bad-selection", f'"@" and a trailing "+" exclude each other in "{text}"', hint=hint)]
        )
    method, *arguments = (match["method"] or _method_of(match["value"])).split(".")
    return Criterion(
        text=text,
        method=method,
        arguments=tuple(arguments),
        value=match["value"],
        parents=_steps(match["parents"]),
        children=_steps(match["children"]),
        relatives=bool(match["both"]),
    )


def _method_of(value: str) -> str:
    """Return the method of a value that has no `method:` in front."""
    if "/" in value or "\\" in value:
        return "path"
    return "file" if value.lower().endswith((".sql", ".csv")) else "fqn"


def _steps(digits: str | None) -> float:
    """The depth of an operator: none without one, all without a number."""
    if digits is None:
        return 0
    # Python reads no number of thousands of digits, and no graph is that deep.
    return int(digits) if digits and len(digits) < _MOST_DIGITS else inf
