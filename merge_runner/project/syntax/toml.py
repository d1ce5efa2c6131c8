"""TOML as plain data: the standard library's parser, or on Python 3.10 the package that it came from."""

from __future__ import annotations

import sys
from typing import Any

if sys.version_info >= (3, 11):
    from tomllib import TOMLDecodeError
    from tomllib import loads as _loads
else:
    from tomli import TOMLDecodeError
    from tomli import loads as _loads

MAX_DEPTH = 100
"""How deep tables and arrays may nest: far beyond any real file, and safe for recursion (as in YAML)."""

_SOMEWHERE = " (at line 1, column 1)"
"""The end of a message whose place is not known, as the parser writes it."""


class TomlError(ValueError):
    """A text that is not TOML; the message ends with the place, as the parser writes it."""


def parse_toml(text: str) -> dict[str, Any]:
    """Return the content of a TOML file. Raise TomlError where it is none, or nested too deeply."""
    try:
        data = _loads(text)
    except TOMLDecodeError as error:
        raise TomlError(str(error)) from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:  # a number of thousands of digits
        raise TomlError(f"{error}{_SOMEWHERE}") from None
    level: list[Any] = [data]
    for _ in range(MAX_DEPTH):
        inner = [item.values() if isinstance(item, dict) else item for item in level]
        level = [item for values in inner for item in values if isinstance(item, dict | list)]
        if not level:
            return data
    raise _too_deep()


def _too_deep() -> TomlError:
    return TomlError(f"more than {MAX_DEPTH} levels of nesting{_SOMEWHERE}")
