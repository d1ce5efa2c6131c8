"""The templates of a project: rendering, reading what a file captures, calling macros."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from merge_runner.errors import Problem, Problems
from merge_runner.template.capture import Capture
from merge_runner.template.context import Context
from merge_runner.template.outcome import ASKS_ENGINE
from merge_runner.template.packages import Packages
from merge_runner.template.rendered_text import RenderedText
from merge_runner.template.static.macro_definitions import TEST_PREFIX, MacroDefinition, macro_definitions, test_macro
from merge_runner.template.static.plain_macros import plain_macros
from merge_runner.template.static.scan import scan
from merge_runner.template.static.tags import OPENING
from merge_runner.text import SourceText

if TYPE_CHECKING:
    from merge_runner.template.library import Library
    from merge_runner.template.rendering import Rendering

RUN_FLAGS = ("is_incremental", "is_full_refresh")
"""The built-ins whose values depend on the kind of run: incremental, first or full refresh."""
_BUILT_INS = frozenset(
    {"config", "ref", "changes", "source", "this", "var", "env_var", "target", "batch"}
    | {"is_incremental", "is_full_refresh", "model_name", "log", "return", "exceptions"}
)

_BY_NAME = "dispatch"
"""What calls a macro whose name may be computed."""

JINJA_PROBLEMS = frozenset(
    {"jinja-syntax", "undefined-name", "unknown-ref", "unknown-source", "disabled-ref", "undefined-var"}
    | {"missing-env-var", "raised", "recursion", "render-limit", "jinja-runtime", "duplicate-macro", "reserved-name"}
    | {ASKS_ENGINE}
)
"""Codes of the problems of templates, those of their refs included."""


class Templates:
    """The macros of a project and everything that is rendered with them; threads may share it.

    Built once per project from its macro files; that reads only the macros' names, and Jinja is imported when a file
    first needs it. Raises ProblemsError with every `duplicate-macro` and `reserved-name`.
    """

    def __init__(
        self, macros: Sequence[SourceText] = (), packages: Mapping[str, Sequence[SourceText]] | None = None
    ) -> None:
        """`packages` are the macro files of the packages of the project, by the names that templates call them by."""
        self._macro_sources = tuple(macros)
        self.packages = Packages(packages)
        self._macro_files: dict[str, SourceText] = {}
        self._macros: dict[str, MacroDefinition] = {}
        problems = Problems()
        for source in macros:
            for macro in macro_definitions(source):
                name, place = macro.name, macro.place
                first = self._macros.setdefault(name, macro)
                self._macro_files[name] = source
                if name in _BUILT_INS:
                    problems.add("reserved-name", f'"{name}" is a built-in', place, "give the macro another name")
                elif first is not macro:
                    message = f'the macro "{name}" is defined twice'
                    problems.add("duplicate-macro", message, place, f"it is first defined at {first.place}")
        problems.check()

    @property
    def sources(self) -> tuple[SourceText, ...]:
        """All files that a template may depend on: the macro files, and those of the project's packages."""
        return (*self._macro_sources, *self.packages.sources)

    def macros(self) -> tuple[MacroDefinition, ...]:
        """The project's macros, in the order of the files."""
        return tuple(self._macros.values())

    def has_macro(self, name: str) -> bool:
        """Whether the project defines the macro."""
        return name in self._macros

    def differs_by_run(self, text: str, macros: Iterable[str]) -> bool:
        """Return whether a template may render different texts in different kinds of runs.

        That is where it, or the file of a macro that it calls, names `is_incremental` or `is_full_refresh`.
        """
        return _names_run_flag(text) or any(self._differs(name) for name in macros)

    def check(self) -> None:
        """Compiles every macro file, also those that no model uses; raises ProblemsError with all broken ones."""
        problems = Problems()
        for source in self._macro_sources:
            if OPENING.search(source.text):
                with problems.collecting():
                    self._library.compile(source)
        problems.check()

    def render(self, source: SourceText, context: Context) -> RenderedText:
        """The SQL text of a file, with what it captured and a map back; raises ProblemsError with all problems.

        The codes are `jinja-syntax`, `undefined-name`, `unknown-ref`, `unknown-source`, `undefined-var`,
        `missing-env-var`, `raised`, `recursion`, `render-limit`, `asks-engine` and, for any other failure,
        `jinja-runtime`.
        """
        if OPENING.search(source.text) is None:
            return RenderedText.plain(source)
        return self._rendering(context).render(source)

    def capture(self, source: SourceText, context: Context) -> Capture:
        """What the file says about itself: read from its text where `scan` can, else by rendering it.

        A branch that this context does not take captures nothing (see graph/captures.py for what depends on the kind
        of run), and neither does one that a query's rows decide about; `-- depends_on: {{ ref('m') }}` is for that.
        The context's resolve functions should accept every name; raises ProblemsError as `render` does, but for
        `asks-engine`.
        """
        captured = self.scanned(source)
        if captured is not None:
            return captured
        rendering = self._rendering(context)
        rendering.render_unanswered(source)
        return rendering.captured()

    def text_unanswered(self, source: SourceText, context: Context) -> str:
        """Return the text of a file, or what it would be if its queries returned nothing; empty where that is none.

        Raises ProblemsError as `capture` does.
        """
        if OPENING.search(source.text) is None:
            return source.text
        rendering = self._rendering(context).render_unanswered(source)
        return rendering.text if rendering is not None else ""

    def scanned(self, source: SourceText) -> Capture | None:
        """Return what `capture` does for every context, read without Jinja; None where that takes rendering."""
        return scan(source, self._plain_macros)

    def reachable_files(self, text: str) -> frozenset[str]:
        """Return the macro files that rendering the text may evaluate: see `_reachable`."""
        return _reachable(text, self._macro_files, self._macro_sources, self.packages.of_project)

    def call_macro(self, name: str, context: Context, *args: Any, **kwargs: Any) -> Any:
        """What a project macro returns with `return`, else the text it renders to.

        Raises KeyError where there is no such macro (see `has_macro`), and ProblemsError as `render` does.
        """
        if name not in self._macro_files:
            raise KeyError(name)
        return self._rendering(context).call_macro(name, args, kwargs)

    def _differs(self, macro: str) -> bool:
        if macro in self._macro_files:
            return macro in self._differing_macros
        packaged = self.packages.find(macro)
        return packaged is not None and _names_run_flag(packaged.source.text)

    @cached_property
    def _differing_macros(self) -> frozenset[str]:
        return frozenset(name for name, source in self._macro_files.items() if _names_run_flag(source.text))

    def has_test(self, name: str) -> bool:
        """Return whether the project defines a data test of this name: `{% test name(…) %}`."""
        return self.has_macro(test_macro(name)) or self.packages.find(test_macro(name)) is not None

    def broken_test(self, name: str) -> tuple[Problem, ...]:
        """Return what is wrong with a macro file that cannot be read and seems to define the data test."""
        if self.has_test(name) or not any(name in source.text for source in self._macro_sources):
            return ()
        return self._library.broken_definition(TEST_PREFIX + name)

    def render_test(self, name: str, context: Context, caller: SourceText, arguments: Mapping[str, Any]) -> str:
        """Return the text of a data test of the project, called for `caller`. Raises ProblemsError as `render` does."""
        return str(self._rendering(context).call_macro(test_macro(name), (), arguments, caller))

    def capture_test(self, name: str, context: Context, caller: SourceText, arguments: Mapping[str, Any]) -> Capture:
        """Return what a data test of the project captures. Raises ProblemsError as `capture` does."""
        rendering = self._rendering(context)
        rendering.call_unanswered(test_macro(name), arguments, caller)
        return rendering.captured()

    @cached_property
    def _plain_macros(self) -> Mapping[str, Capture]:
        return plain_macros(self._macros.values())

    @cached_property
    def _library(self) -> Library:
        # Jinja takes 30 ms to import, and a project whose files `scan` can read never needs it.
        from merge_runner.template.library import Library

        return Library(self._macro_files, self._macro_sources, self.packages)

    def _rendering(self, context: Context) -> Rendering:
        from merge_runner.template.rendering import Rendering

        return Rendering(self._library, context)


def _names_run_flag(text: str) -> bool:
    return any(name in text for name in RUN_FLAGS)


def _reachable(
    text: str,
    macro_files: Mapping[str, SourceText],
    sources: Sequence[SourceText],
    packages: Mapping[str, Sequence[SourceText]],
) -> frozenset[str]:
    """Return the paths of the files whose macros the text names, and of those that these files name, and so on.

    `macro_files` are the files by the names of their macros, `packages` those of packages by name: a text that names a
    package reaches all of it. Jinja evaluates a file of macros as a whole, and a macro is called by its name; where
    `adapter.dispatch` can be reached, which takes a text, that is all `sources` and packages.
    """
    paths: dict[str, None] = {}
    waiting = [text]
    while waiting:
        reader = waiting.pop()
        if _BY_NAME in reader:
            packaged = (source.path for files in packages.values() for source in files)
            return frozenset((*(source.path for source in sources), *packaged))
        for name, file in macro_files.items():
            if file.path not in paths and name in reader:
                paths[file.path] = None
                waiting.append(file.text)
        for package, files in packages.items():
            if package in reader:
                waiting += [file.text for file in files if file.path not in paths]
                paths.update((file.path, None) for file in files)
    return frozenset(paths)
