"""Packages of macros that are installed with merge-runner: templates call them as `package.macro(…)`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from merge_runner.template.static.macro_definitions import MacroDefinition, macro_definitions
from merge_runner.text import SourceText

PACKAGES = ("merge_patterns",)
"""Their names, which are folders here and names in templates."""
_HERE = Path(__file__).parent


class PackagedMacro(NamedTuple):
    """A macro and the file that it is in, whose path begins with the package's name."""

    definition: MacroDefinition
    source: SourceText


@cache
def package_macros(package: str) -> Mapping[str, PackagedMacro]:
    """Return the macros of a package by their names, in the order of the files."""
    from importlib.resources import files

    found = {}
    inside = files("merge_runner.template.packages").joinpath(package).iterdir()
    for file in sorted((each for each in inside if each.name.endswith(".sql")), key=lambda each: each.name):
        source = SourceText(f"{package}/{file.name}", file.read_text(encoding="utf-8"))
        for macro in macro_definitions(source):
            found[macro.name] = PackagedMacro(macro, source)
    return found


def patterns(package: str) -> list[MacroDefinition]:
    """Return the macros of a package that models call: files are named after them, and what they share has another."""
    named = package_macros(package).items()
    return [macro.definition for name, macro in named if macro.source.path == f"{package}/{name}.sql"]


def package_file(path: str) -> Path | None:
    """Return the file of a package that a place is in, whose path begins with the package; None for any other."""
    package, _, name = path.partition("/")
    file = _HERE / package / name
    return file if package in PACKAGES and file.is_file() else None


def packaged_macro(name: str) -> PackagedMacro | None:
    """Return the macro of a dotted name, as in `merge_patterns.scd2`; None where there is none."""
    package, _, macro = name.rpartition(".")
    return package_macros(package).get(macro) if package in PACKAGES else None
