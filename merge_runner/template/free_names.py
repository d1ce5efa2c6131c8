"""The names that a template reads and does not set itself, without rendering it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from merge_runner.template.static.tags import OPENING

if TYPE_CHECKING:
    from jinja2 import Environment


def free_names(text: str) -> frozenset[str] | None:
    """Return the names that a template takes from its context; None where its Jinja cannot be read.

    A filter or test that Jinja does not have is such a template: the names in its arguments would be missing.
    """
    if OPENING.search(text) is None:
        return frozenset()
    from jinja2 import TemplateError, meta

    try:
        return frozenset(meta.find_undeclared_variables(_environment().parse(text)))
    except (TemplateError, RecursionError):
        return None


@cache
def _environment() -> Environment:
    """Jinja with the extension that models use; it parses, and renders nothing."""
    from jinja2 import Environment

    return Environment(extensions=["jinja2.ext.do"])
