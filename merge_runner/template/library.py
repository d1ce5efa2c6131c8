"""The compiled templates of a project: each file is compiled when it is first needed, and once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from merge_runner.errors import Problem, ProblemsError
from merge_runner.template.current_rendering import MacroPackage, OwnMacros, ProjectMacro
from merge_runner.template.environment import ModelEnvironment
from merge_runner.template.jinja_compiler import CompiledTemplate, compile_template, required_arguments
from merge_runner.template.packages import COMMON, Packages
from merge_runner.template.static.macro_definitions import TEST_PREFIX
from merge_runner.text import SourceText


class Library:
    """The environment, the project's macros as values, and a cache of compiled files; threads may share it."""

    def __init__(
        self,
        macro_files: Mapping[str, SourceText],
        sources: Sequence[SourceText],
        packages: Packages,
    ) -> None:
        """`macro_files` are the files by the names of their macros, `sources` all files, also those without any."""
        self.environment = ModelEnvironment()
        self.macros = {name: ProjectMacro(name) for name in macro_files}
        self.packages = packages
        self.package_names = {name: MacroPackage(name, packages) for name in packages.names}
        """The packages as templates name them."""
        self.own_macros = OwnMacros(self.macros)
        """The project's macros by the project's own name."""
        self.common_macros = {
            name: ProjectMacro(f"{COMMON}.{name}") for name in packages.macros(COMMON) if not name.startswith("spark__")
        }
        """Macros that dbt has for all databases, which are called without the name of their package as well."""
        self._macro_files = macro_files
        self._sources = sources
        self._compiled: dict[str, CompiledTemplate] = {}
        self._required: dict[str, tuple[str, ...]] = {}

    def macro_file(self, name: str) -> SourceText:
        """The file that defines the macro; one of a package has a dotted name."""
        packaged = self.packages.find(name)
        return self._macro_files[name] if packaged is None else packaged.source

    def missing_arguments(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[str]:
        """Return the arguments without a default that a call of a macro of a package leaves out."""
        packaged = self.packages.find(name)
        if packaged is None:
            return ()
        names = self._required.get(name)
        if names is None:  # a macro is called often, and its text stays
            definition = SourceText(packaged.source.path, packaged.definition.text)
            names = self._required[name] = required_arguments(self.environment, definition)
        return [argument for argument in names[len(args) :] if argument not in kwargs]

    def broken_definition(self, name: str) -> tuple[Problem, ...]:
        """Return what is wrong with a macro file that cannot be read and seems to define the macro."""
        test = re.escape(name.removeprefix(TEST_PREFIX))
        begin = re.compile(rf"\{{%[-+]?\s*(?:macro\s+{re.escape(name)}|(?:data_)?test\s+{test})\b")
        for source in self._sources:
            if begin.search(source.text):
                try:
                    self.compile(source)
                except ProblemsError as error:
                    return error.problems
        return ()

    def compile(self, source: SourceText) -> CompiledTemplate:
        """The file, compiled; the cache keeps the newest text per path. Raises ProblemsError."""
        entry = self._compiled.get(source.path)
        if entry is not None and entry.source == source:
            return entry
        # Two threads may both compile a file: that costs time, and either result is right.
        compiled = self._compiled[source.path] = compile_template(self.environment, source)
        return compiled
