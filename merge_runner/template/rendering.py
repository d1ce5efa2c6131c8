"""One rendering: it runs a compiled template, and gives every failure a place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from types import BuiltinMethodType, GeneratorType
from typing import Any, TypeVar

from jinja2.runtime import Macro
from jinja2.sandbox import SandboxedEnvironment

from merge_runner.errors import Problem, Problems, ProblemsError, joined_hints
from merge_runner.template.capture import Capture
from merge_runner.template.context import Context
from merge_runner.template.current_rendering import ProjectMacro
from merge_runner.template.environment import ModelContext
from merge_runner.template.failure import failure, innermost, undefined_use
from merge_runner.template.growth import call_size, call_work
from merge_runner.template.jinja_compiler import CompiledTemplate, assigned_names
from merge_runner.template.library import Library
from merge_runner.template.limits import MAX_CHARACTERS, MAX_DEPTH, Limits, check_size, watched
from merge_runner.template.names.built_ins import BuiltIns, plain, surrogate
from merge_runner.template.names.dbt_names import DbtNames
from merge_runner.template.names.queries import Queries
from merge_runner.template.outcome import ASKS_ENGINE, MacroReturn, RefusedError
from merge_runner.template.redact import redact
from merge_runner.template.rendered_text import Log, RenderedText
from merge_runner.template.source_map import TooLongError, mapped
from merge_runner.template.static.tags import read_call
from merge_runner.template.undefined import ReportedUndefined, use_undefined
from merge_runner.text import Place, SourceText

_Result = TypeVar("_Result")
_MAX_CALLS = 5
"""Of nested macros that a message names."""


class Rendering:
    """The state of one rendering: the built-ins and their record, the macro calls that are running, the problems.

    Problems that a rendering can go on from are collected; any other ends it, and all are raised together.
    """

    def __init__(self, library: Library, context: Context) -> None:
        self.context = context
        self.limits = Limits()
        self.secrets: set[str] = set()
        self.built_ins = BuiltIns(self)
        self._library = library
        # A statement of an operation takes as long as the engine needs.
        self._watch = watched if context.operation is None else nullcontext
        own = self.built_ins.names()
        project = context.model.get("package_name")
        self._names = {
            **library.common_macros,
            **library.environment.globals,
            **DbtNames(self, self.built_ins).names(own),
            **Queries(self).names(),
            **context.values,
            **library.package_names,
            **({project: library.own_macros} if isinstance(project, str) else {}),
            **library.macros,
            **own,
            **{name: _always(value) for name, value in context.macros.items()},
        }
        self._problems = Problems()
        self._problem_keys: set[tuple[str, str, Place | None]] = set()
        self._sources: dict[str, SourceText] = {}
        self._assigned_names: dict[str, set[str]] = {}
        """By file the names that it gives a value itself, once an undefined name has asked for them."""
        self._call: tuple[str, int] = ("", 0)
        """The file and offset of the call that began last: a built-in's own, while it runs."""
        self._running: list[tuple[str, int]] = []
        """Where each running macro was called, the model's call first."""
        self._macros: dict[str, Macro] = {}
        self._macro_names: dict[Macro, str] = {}
        """By a macro its name as others know it, with its package."""
        self._called_macros: set[str] = set()
        self._loading: set[str] = set()
        self._has_placeholders = False
        self._needs_engine = False
        """Whether a query was asked for that nothing has executed."""

    def render(self, source: SourceText) -> RenderedText:
        """The rendered file; raises ProblemsError with everything that was found."""
        return self._run_checked(source, lambda: self._render(self._library.compile(source)))

    def render_unanswered(self, source: SourceText) -> RenderedText | None:
        """The rendered file where queries return nothing, which is not its text; None where the rendering ends early.

        Raises ProblemsError as `render` does, but for `asks-engine`.
        """
        return self._run_unanswered(source, lambda: self._render(self._library.compile(source)))

    def call_unanswered(self, name: str, kwargs: Mapping[str, Any], caller: SourceText) -> None:
        """Call a macro as `call_macro` does where queries return nothing, for what it captures."""
        self._run_unanswered(caller, lambda: self._call_by_name(name, (), kwargs, caller))

    def call_macro(
        self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], caller: SourceText | None = None
    ) -> Any:
        """What the project macro returns, or the text it renders to; raises ProblemsError.

        `caller` is the text that the macro is called for, where there is one.
        """
        source = caller or self._library.macro_file(name)
        return self._run_checked(source, lambda: self._call_by_name(name, args, kwargs, caller))

    def captured(self) -> Capture:
        """What the built-ins were asked so far."""
        return self.built_ins.captured(frozenset(self._called_macros))

    def call(
        self, context: ModelContext, offset: int, callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Calls what a template calls at `offset` of the file that `context` belongs to."""
        running = len(self._running)
        try:
            if isinstance(callee, ProjectMacro):
                callee = self._macro_to_call(callee.name, args, kwargs)
            if isinstance(callee, Macro):
                self._enter(callee, context.path, offset)
            elif (undefined := use_undefined((*args, *kwargs.values()))) is not None:
                return undefined  # only a macro may look after what it was not given
            self._call = (context.path, offset)
            result = self._result(context, callee, args, kwargs)
        except MacroReturn as macro_return:
            if not isinstance(callee, Macro):
                raise
            return macro_return.value
        except ProblemsError:
            raise
        except Exception as error:
            problem = failure(error, self._library.environment, callee, args, kwargs)
            raise self._error_of(error, problem, context.path, offset) from error
        finally:
            del self._running[running:]
        if isinstance(result, str):
            check_size(len(result))
        return result

    def _result(self, context: ModelContext, callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if isinstance(callee, Macro):  # what the sandbox would find out of it first: a template's own code
            for name in ("_loop_vars", "_block_vars"):
                kwargs.pop(name, None)
            return callee(context.eval_ctx, *args, **kwargs)
        args = tuple(list(argument) if isinstance(argument, GeneratorType) else argument for argument in args)
        if any(map(_is_python_method, (*args, *kwargs.values()))):
            raise RefusedError("jinja-runtime", "a method is given to a call without being called: add (…)")
        self.limits.work(call_work(callee, args, kwargs))
        self.limits.build(call_size(callee, args, kwargs))
        return SandboxedEnvironment.call(self._library.environment, context, callee, *args, **kwargs)

    def macro_named(self, name: str, package: str | None = None) -> ProjectMacro | None:
        """Return the macro of the project's macro files, else that of a package; None where there is none."""
        dotted = f"{package}.{name}"
        packaged = ProjectMacro(dotted) if self._library.packages.find(dotted) is not None else None
        return self._library.macros.get(name, packaged)

    def read_this(self, value: Any) -> None:
        """Record that the template reads `this`."""
        self.built_ins.read_this(value)

    def call_place(self) -> Place:
        """The place of the running built-in's call."""
        path, offset = self._call
        source = self._sources[path]
        return source.place(offset, read_call(source.text, offset)[0])

    def keyword_places(self) -> dict[str, Place]:
        """The places of the keywords that the running built-in's call was written with."""
        path, offset = self._call
        source = self._sources[path]
        keywords = read_call(source.text, offset)[1]
        return {key: source.place(start, start + len(key)) for key, start in keywords.items()}

    def add(self, code: str, message: str, place: Place, *hints: str | None) -> None:
        """Keeps a problem that rendering can go on from."""
        self._needs_engine = self._needs_engine or code == ASKS_ENGINE
        self._keep([self._redact_problem(code, message, place, *hints)])

    def placeholder(self, name: str) -> ReportedUndefined:
        """A value to go on with, in place of one that is missing and whose problem is known."""
        self._has_placeholders = True
        return ReportedUndefined(name=name).report_to(lambda _: None)

    def report(self, undefined: ReportedUndefined, path: str, offset: int) -> None:
        """A template used the undefined value that it got at `offset`.

        In a package of the project a name that the file sets in a branch that is not taken is empty, as in dbt.
        """
        source = self._sources[path]
        if path not in self._assigned_names:
            self._assigned_names[path] = assigned_names(self._library.environment, source)
        if path in self._library.packages.paths and undefined.variable in self._assigned_names[path]:
            return
        self._has_placeholders = True
        if self._needs_engine and (undefined.variable is None or undefined.variable in self._assigned_names[path]):
            return  # it may be missing since a query's rows are
        if undefined.variable is not None and (broken := self._library.broken_definition(undefined.variable)):
            self._keep(broken)
            return
        names = {*self._names, *self._assigned_names[path]}
        problem = undefined_use(undefined, source, offset, names)
        author, at = self._authors(path, offset)
        place = self._sources[author].place(at) if (author, at) != (path, offset) else problem.place
        if place is not None:
            self.add(problem.code, problem.message, place, problem.hint)

    def _render(self, compiled: CompiledTemplate) -> RenderedText:
        try:
            text, source_map = mapped(compiled.root(self._context_of(compiled)), compiled.tags, MAX_CHARACTERS)
        except TooLongError as error:
            raise self._too_long_error(compiled, error.origin) from None
        if (wrong := surrogate(text)) is not None:
            place = source_map.span(wrong).start
            message = f"the rendered text has the character U+{ord(text[wrong]):04X}, which is no text alone"
            raise ProblemsError([Problem("jinja-runtime", message, compiled.source.place(place))])
        logs = tuple(Log(redact(log.message, self.secrets), log.info, log.place) for log in self.built_ins.logs)
        return RenderedText(compiled.source, text, self.captured(), source_map, logs)

    def _call_by_name(
        self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], caller: SourceText | None
    ) -> Any:
        if caller is not None:
            self._sources[caller.path] = caller
            self._running.append((caller.path, 0))
        macro = self._macro(name)
        try:
            return macro(*args, **kwargs)
        except MacroReturn as macro_return:
            return macro_return.value

    def _run_unanswered(self, source: SourceText, run: Callable[[], _Result]) -> _Result | None:
        result = []
        try:
            self._run_checked(source, lambda: result.append(run()))
        except ProblemsError as error:
            if any(problem.code != ASKS_ENGINE for problem in error.problems):
                raise
        return result[0] if result else None

    def _too_long_error(self, compiled: CompiledTemplate, origin: int) -> ProblemsError:
        offset = origin if origin >= 0 else compiled.tags[-1 - origin].start
        message = f"the rendered text has more than {MAX_CHARACTERS:,} characters; is there an endless loop?"
        return ProblemsError([Problem("render-limit", message, compiled.source.place(offset))])

    def _run_checked(self, source: SourceText, run: Callable[[], _Result]) -> _Result:
        """What `run` gives; raises ProblemsError with all problems, `source` being the outermost file."""
        result = []
        try:
            with self._watch():
                result.append(run())
        except MacroReturn as macro_return:
            hint = "use {% if %} to leave something out"
            self._keep([Problem("jinja-runtime", "return is used outside a macro", macro_return.place, hint)])
        except ProblemsError as error:
            self._end_with(error)
        except Exception as error:
            self._sources.setdefault(source.path, source)
            self._end_with(self._error_of(error, failure(error, self._library.environment), source.path, 0))
        self._problems.check()
        return result[0]

    def _keep(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            # A macro may be called often, and a value that is undefined may be used more than once.
            key = (problem.code, problem.message, problem.place)
            if key not in self._problem_keys:
                self._problem_keys.add(key)
                self._problems.extend([problem])

    def _end_with(self, error: ProblemsError) -> None:
        # What fails after a missing value fails because of it.
        if not self._has_placeholders:
            self._keep(error.problems)

    def _error_of(self, error: Exception, problem: Problem, path: str, offset: int) -> ProblemsError:
        """Return the problem that ends the rendering, placed in the innermost running template; else at the offset."""
        path, offset = self._authors(*(innermost(error.__traceback__) or (path, offset)))
        place = self._sources[path].place(offset)
        return ProblemsError([self._redact_problem(problem.code, problem.message, place, problem.hint)])

    def _authors(self, path: str, offset: int) -> tuple[str, int]:
        """Return a place that the author can change: for one in a package it is where the package was called."""
        calls = (call for call in reversed(self._running) if not self._is_packaged(call[0]))
        return next(calls, (path, offset)) if self._is_packaged(path) else (path, offset)

    def _is_packaged(self, path: str) -> bool:
        return self._library.packages.of(path) is not None

    def _redact_problem(self, code: str, message: str, place: Place, *hints: str | None) -> Problem:
        """A problem with its hints and the calls that led to it, and without secrets."""
        hint = redact(joined_hints(hints) or "", self.secrets) or None
        return Problem(code, redact(message, self.secrets), place, hint, self._calls(place))

    def _calls(self, place: Place) -> tuple[str, ...]:
        """Return the author's calls that led to a place in a macro, the innermost first and the model's last."""
        running = [call for call in reversed(self._running) if not self._is_packaged(call[0])]
        calls = [str(self._sources[path].place(offset)) for path, offset in running]
        if calls and calls[0] == str(place):
            del calls[0]  # the call itself is what is wrong
        if len(calls) > _MAX_CALLS:
            calls[_MAX_CALLS - 1 : -1] = ["…"]
        return (", from ".join(calls),) if calls else ()

    def _context_of(self, compiled: CompiledTemplate) -> ModelContext:
        path = compiled.source.path
        self._sources[path] = compiled.source
        context = ModelContext(self._library.environment, self._names_in(path), path, {})
        context.rendering, context.path = self, path
        return context

    def _names_in(self, path: str) -> dict[str, Any]:
        """Return what a file may name: in a package also its other macros, without the name of the package."""
        package = self._library.packages.of(path)
        if package is None:
            return self._names
        names = dict(self._names)
        for name in self._library.packages.macros(package):
            if isinstance(names.setdefault(name, None), ProjectMacro | None):  # a built-in is never replaced
                names[name] = ProjectMacro(f"{package}.{name}")
        return names

    def _macro_to_call(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Macro:
        """Return the macro that a template calls; RefusedError where one of a package is not given what it needs."""
        macro = self._macro(name)
        if missing := self._library.missing_arguments(name, args, kwargs):
            raise RefusedError("jinja-runtime", f"{name} is called without {' and '.join(missing)}")
        return macro

    def _macro(self, name: str) -> Macro:
        """The project macro, bound to this rendering; evaluates its file on first use."""
        if name not in self._macros:
            source = self._library.macro_file(name)
            if source.path in self._loading:
                raise RecursionError
            compiled = self._library.compile(source)
            context = self._context_of(compiled)
            self._loading.add(source.path)
            for _ in compiled.root(context):
                pass  # The text between the macros of a file is not rendered anywhere.
            self._loading.remove(source.path)
            package = name.rpartition(".")[0]
            for key, value in context.vars.items():
                if isinstance(value, Macro):
                    full_name = f"{package}.{key}" if package else key
                    self._macros[full_name] = value
                    self._macro_names[value] = full_name
        if name not in self._macros:
            raise LookupError(f'the macro "{name}" is defined under a condition that is false')
        return self._macros[name]

    def _enter(self, macro: Macro, path: str, offset: int) -> None:
        self.limits.step()
        if len(self._running) >= MAX_DEPTH:
            raise RecursionError
        self._running.append((path, offset))
        if macro in self._macro_names:
            self._called_macros.add(self._macro_names[macro])


def _is_python_method(value: Any) -> bool:
    """Whether it is a method of a text, list, number or date: what Python's own code calls goes past the limits."""
    return isinstance(getattr(value, "__wrapped__", value), BuiltinMethodType)  # the sandbox wraps str.format


def _always(value: Any) -> Callable[..., Any]:
    """A macro that gives a copy of the value, whatever it is called with."""
    return lambda *_, **__: plain(value, "the result of a macro")
