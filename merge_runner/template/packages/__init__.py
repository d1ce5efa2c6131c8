"""Packages of macros, which templates call as `package.macro(…)`: those of merge-runner, and those of a project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from merge_runner.template.static.macro_definitions import MacroDefinition, macro_definitions
from merge_runner.text import SourceText

PATTERNS = "merge_patterns"
"""The package with the patterns of MERGEs, which `eject` writes out."""
COMMON = "dbt"
"""The package with the macros that dbt has for all databases."""
INSTALLED = (PATTERNS, COMMON)
"""The packages that are installed with merge-runner: folders here, and names in templates."""
_HERE = Path(__file__).parent


class PackagedMacro(NamedTuple):
    """A macro and the file that it is in; in that of an installed package the path begins with the package's name."""

    definition: MacroDefinition
    source: SourceText


class Packages:
    """The packages that templates see: by name, those of a project, and those that are installed with merge-runner."""

    def __init__(self, of_project: Mapping[str, Sequence[SourceText]] | None = None) -> None:
        self.of_project = of_project or {}
        """The macro files of the project's packages, by name."""
        self._macros: dict[str, Mapping[str, PackagedMacro]] = {}
        self.paths = {source.path: name for name, sources in self.of_project.items() for source in sources}
        """The packages of the project by the paths of their files."""

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return (*INSTALLED, *(name for name in self.of_project if name not in INSTALLED))

    @property
    def sources(self) -> tuple[SourceText, ...]:
        """The macro files of the project's packages."""
        return tuple(source for sources in self.of_project.values() for source in sources)

    def macros(self, package: str) -> Mapping[str, PackagedMacro]:
        """Return the macros of a package by their names, in the order of the files; none where there is no such one."""
        if package in INSTALLED:
            return _read_macros(package)
        if package not in self._macros:
            self._macros[package] = _by_name(self.of_project.get(package, ()))
        return self._macros[package]

    def find(self, name: str) -> PackagedMacro | None:
        """Return the macro of a dotted name, as in `merge_patterns.scd2`; None where there is none."""
        package, _, macro = name.rpartition(".")
        return self.macros(package).get(macro)

    def of(self, path: str) -> str | None:
        """Return the package of a file, which the project's author does not write; None for one of the project."""
        first = path.partition("/")[0]
        return first if first in INSTALLED else self.paths.get(path)


@cache
def _read_macros(package: str) -> Mapping[str, PackagedMacro]:
    inside = files("merge_runner.template.packages").joinpath(package).iterdir()
    macro_files = sorted((file for file in inside if file.name.endswith(".sql")), key=lambda file: file.name)
    return _by_name([SourceText(f"{package}/{file.name}", file.read_text(encoding="utf-8")) for file in macro_files])


def installed_macro(name: str) -> PackagedMacro | None:
    """Return the macro of an installed package by its dotted name; None where there is none."""
    package, _, macro = name.rpartition(".")
    return _read_macros(package).get(macro) if package in INSTALLED else None


def patterns(package: str) -> list[MacroDefinition]:
    """Return the macros of a package that models call: files are named after them, and what they share has another."""
    macros = _read_macros(package).items()
    return [macro.definition for name, macro in macros if macro.source.path == f"{package}/{name}.sql"]


def package_file(path: str) -> Path | None:
    """Return the file of a package that a place is in, whose path begins with the package; None for any other."""
    package, _, name = path.partition("/")
    file = _HERE / package / name
    return file if package in INSTALLED and file.is_file() else None


def _by_name(sources: Sequence[SourceText]) -> Mapping[str, PackagedMacro]:
    return {macro.name: PackagedMacro(macro, source) for source in sources for macro in macro_definitions(source)}
