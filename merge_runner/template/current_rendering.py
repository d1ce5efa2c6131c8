"""What the built-ins and the code of a template ask of the rendering that they run in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, Protocol

from merge_runner.template.context import Context
from merge_runner.template.limits import Limits
from merge_runner.template.packages import Packages
from merge_runner.template.undefined import ReportedUndefined
from merge_runner.text import Place


class CurrentRendering(Protocol):
    """One rendering as it runs. `limits` count what it does; `secrets` are the values that it must not show."""

    context: Context
    limits: Limits
    secrets: set[str]

    def call(self, context: Any, offset: int, callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call what a template calls at `offset` of the file that `context` (a ModelContext) belongs to."""

    def macro_named(self, name: str, package: str | None = None) -> ProjectMacro | None:
        """Return the macro of the project's macro files, else that of a package; None where there is none."""

    def read_this(self, value: Any) -> None:
        """Record that the template reads `this`."""

    def call_place(self) -> Place:
        """Return the place of the running built-in's call."""

    def keyword_places(self) -> Mapping[str, Place]:
        """Return the places of the keywords of the running built-in's call."""

    def add(self, code: str, message: str, place: Place, *hints: str | None) -> None:
        """Keep a problem that rendering can go on from."""

    def placeholder(self, name: str) -> ReportedUndefined:
        """Return a value to go on with, in place of one that is missing and whose problem is known."""

    def report(self, undefined: ReportedUndefined, path: str, offset: int) -> None:
        """Report that a template used the undefined value that it got at `offset`."""


class ProjectMacro:
    """A macro of the project's macro files as a value in templates, which a rendering calls (see Rendering.call)."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self) -> NoReturn:
        raise TypeError(f"the macro {self.name} is called outside a rendering")


class MacroPackage:
    """A package of macros as a value in templates: its attributes are macros with dotted names."""

    def __init__(self, name: str, packages: Packages) -> None:
        self.name = name
        self._packages = packages

    def __getattr__(self, name: str) -> ProjectMacro:
        if name not in self._packages.macros(self.name):
            raise AttributeError(name)
        return ProjectMacro(f"{self.name}.{name}")

    def __dir__(self) -> list[str]:
        return list(self._packages.macros(self.name))


class OwnMacros:
    """The project's macros by the project's own name: `shop.cents(…)` is `cents(…)`, as in dbt."""

    def __init__(self, macros: Mapping[str, ProjectMacro]) -> None:
        self._macros = macros

    def __getattr__(self, name: str) -> ProjectMacro:
        if name not in self._macros:
            raise AttributeError(name)
        return self._macros[name]

    def __dir__(self) -> list[str]:
        return list(self._macros)
