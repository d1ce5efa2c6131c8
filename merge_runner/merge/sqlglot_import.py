"""Imports sqlglot without what it needs for dialects of other packages, which merge-runner does not use."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_METADATA = "importlib.metadata"


def import_sqlglot() -> None:
    """Import sqlglot before a module of the analysis does: that leaves out importlib.metadata, a sixth of the time.

    sqlglot imports it for the entry points of other packages, and asks it where it does not know the name of a dialect:
    it is imported then.
    """
    if "sqlglot" in sys.modules or _METADATA in sys.modules:
        return
    late = _Late(_METADATA)
    sys.modules[_METADATA] = late
    try:
        import_module("sqlglot")
    finally:
        late.end()


class _Late(ModuleType):
    """Is importlib.metadata until something of it is needed, as another thread may while sqlglot is imported."""

    def entry_points(self, **parameters: Any) -> Any:
        """Return what the function of that name returns."""
        return self.real().entry_points(**parameters)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.real(), name)

    def real(self) -> ModuleType:
        """Return the module itself."""
        self.end()
        return import_module(_METADATA)

    def end(self) -> None:
        """Have the next import find the module itself."""
        if sys.modules.get(_METADATA) is self:
            del sys.modules[_METADATA]
