"""TOML as plain data: the standard library's parser, or on Python 3.10 the package that it came from."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    from tomllib import TOMLDecodeError
    from tomllib import loads as parse_toml
else:
    from tomli import TOMLDecodeError
    from tomli import loads as parse_toml

__all__ = ["TOMLDecodeError", "parse_toml"]
