"""Regular expressions that are compiled when they are used first: of those that a run imports it uses half."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

__all__ = ["pattern"]

_NAMES = tuple(name for name in dir(re.Pattern) if not name.startswith("_"))

if TYPE_CHECKING:
    from re import compile as pattern
else:

    class pattern:  # noqa: N801 -- it is used as `re.compile` is
        """Have the attributes of the compiled pattern once one is used; the arguments are those of `re.compile`.

        A mistake in the text is raised then, too.
        """

        def __init__(self, text: str, flags: int = 0) -> None:
            self._late = text, flags

        def __getattr__(self, name: str) -> Any:
            if name not in _NAMES:
                raise AttributeError(name)
            compiled = re.compile(*self._late)
            self.__dict__.update({each: getattr(compiled, each) for each in _NAMES})
            return getattr(compiled, name)
