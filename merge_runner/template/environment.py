"""The sandbox that templates run in: which values they may touch, and how their code calls back to its rendering."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date, time
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from jinja2.runtime import Context as JinjaContext
from jinja2.runtime import Undefined, str_join
from jinja2.sandbox import SandboxedEnvironment
from jinja2.utils import pass_context

from merge_runner.relation import Relation
from merge_runner.template.current_rendering import ProjectMacro
from merge_runner.template.dbt_hints import CLOCK, HINTS
from merge_runner.template.growth import FILTER_SIZES, filter_work, operation_size, test_work, written_size
from merge_runner.template.jinja_compiler import CALL_OFFSET, MAY_BE_UNDEFINED
from merge_runner.template.kind import kind
from merge_runner.template.limits import check_size
from merge_runner.template.literal import column_name, identifier, literal
from merge_runner.template.outcome import RefusedError
from merge_runner.template.undefined import ReportedUndefined, use_undefined

if TYPE_CHECKING:
    from merge_runner.template.current_rendering import CurrentRendering

_LAZY = frozenset({"map", "select", "reject", "selectattr", "rejectattr"})
RELATION_ATTRIBUTES = frozenset({"catalog", "database", "identifier", "name", "schema", "table"})
_RELATION = {"metadata": {"type": "SparkRelation"}}
"""What packages ask of a table as of a dict, to find out whether it is one."""
_MATCH_ATTRIBUTES = frozenset({"group", "groups", "groupdict", "start", "end", "span", "string", "lastgroup"})


class RunFlag(int):
    """`is_incremental` or `is_full_refresh`: read as a value, or called like dbt's `is_incremental()`."""

    def __call__(self) -> bool:
        return bool(self)

    def __str__(self) -> str:
        return str(bool(self))

    __repr__ = __str__


def _as_it_is(value: Any) -> Any:
    """Return the value: dbt's filters of types count in YAML alone, and leave a text as it is."""
    return value


class ModelEnvironment(SandboxedEnvironment):
    """A sandbox without files, HTML and chance; every call goes through the rendering that it belongs to."""

    intercepted_binops = frozenset({"+", "*", "**", "%", "//"})

    def __init__(self) -> None:
        super().__init__(
            undefined=ReportedUndefined, finalize=_printable, keep_trailing_newline=True, extensions=["jinja2.ext.do"]
        )
        self.context_class = ModelContext
        del self.globals["lipsum"]
        del self.filters["random"]
        self.filters["literal"] = _literal
        self.filters["identifier"] = _identifier
        self.filters["column_name"] = _column_name
        self.filters["tojson"] = _tojson
        for name in ("as_text", "as_native", "as_bool", "as_number"):
            self.filters[name] = _as_it_is
        for name, function in self.filters.items():
            self.filters[name] = _limit_filter(name, function, FILTER_SIZES.get(name, _no_size))
        self.tests["mapping"] = _is_mapping
        for name in self.tests.keys() - MAY_BE_UNDEFINED["tests"]:
            self.tests[name] = _of_defined(self.tests[name], divides=name == "divisibleby")

    def getattr(self, obj: Any, attribute: str) -> Any:
        # The value's class has names too, and those are not the template's.
        if isinstance(obj, ReportedUndefined):
            return obj.used()
        if isinstance(obj, Relation):
            if attribute == "database" and obj.database is None:
                return self.undefined(obj=obj, name=attribute)  # "None" in the text would be a wrong name
            if attribute == "get":
                return _RELATION.get
            if attribute == "render":
                return partial(_relation_name, obj)
            if attribute == "is_cte":
                return False  # an ephemeral model has columns as any other
        if attribute in CLOCK and isinstance(obj, date | time):
            raise RefusedError("jinja-runtime", f"{attribute}: {HINTS['run_started_at']}")
        return super().getattr(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        undefined = use_undefined((obj, argument))
        return super().getitem(obj, argument) if undefined is None else undefined

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if isinstance(obj, Relation):
            return attr in RELATION_ATTRIBUTES
        if isinstance(obj, re.Match):
            return attr in _MATCH_ATTRIBUTES
        if isinstance(value, ProjectMacro):
            return True  # the name of a macro of a package may begin with an underscore
        return super().is_safe_attribute(obj, attr, value)

    def call_binop(self, context: JinjaContext, operator: str, left: Any, right: Any) -> Any:
        assert isinstance(context, ModelContext)
        context.rendering.limits.build(operation_size(operator, left, right))
        return super().call_binop(context, operator, left, right)

    # The odd names leave every keyword to the template's own calls.
    def call(__self, __context: JinjaContext, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805
        offset = kwargs.pop(CALL_OFFSET)
        if isinstance(__obj, ReportedUndefined):
            return __obj()
        assert isinstance(__context, ModelContext)
        return __context.rendering.call(__context, offset, __obj, args, kwargs)


class ModelContext(JinjaContext):
    """The names of one template in one rendering, and what the generated code calls (see OffsetGenerator)."""

    rendering: CurrentRendering
    path: str

    def derived(self, locals: dict[str, Any] | None = None) -> ModelContext:
        context = super().derived(locals)
        assert isinstance(context, ModelContext)
        context.rendering, context.path = self.rendering, self.path
        return context

    def step(self) -> None:
        """A loop begins its next turn."""
        self.rendering.limits.step()

    def write(self, value: Any) -> str:
        """Return the text of a value that a plain template puts out."""
        assert self.environment.finalize is not None
        return str(self.environment.finalize(value))

    def assign(self, name: str, value: Any) -> None:
        """Give a name of a plain template a value."""
        self.vars[name] = value

    def filter_step(self) -> None:
        """A loop looks at an item that it may leave out."""
        self.rendering.limits.work(1)

    def this(self, value: Any) -> Any:
        """The value of the name `this`, which a template reads."""
        self.rendering.read_this(value)
        return value

    def missing(self, name: str, offset: int) -> ReportedUndefined:
        """The value of a name that has none, which the template may ask for that."""
        return self._report_uses(ReportedUndefined(name=name), offset)

    def not_defined(self, name: str, offset: int) -> ReportedUndefined:
        """The value of a name that has none, where the template needs one."""
        return self.missing(name, offset).used()

    def defined(self, value: Any) -> Any:
        """A value that a template looks for in others: `in` may answer without looking at it."""
        return value.used() if isinstance(value, ReportedUndefined) else value

    def attribute(self, value: Any, name: str, offset: int) -> Any:
        """Return `value.name`; the dot is at `offset`."""
        return self._with_place(self.environment.getattr(value, name), offset)

    def item(self, value: Any, key: Any, offset: int) -> Any:
        """Return `value[key]`; the bracket is at `offset`."""
        return self._with_place(self.environment.getitem(value, key), offset)

    def display(self, value: Any) -> Any:
        """A list, tuple or dict that a template writes down."""
        self.rendering.limits.build(written_size(value))
        return value

    def concat(self, parts: tuple[Any, ...]) -> str | ReportedUndefined:
        """`a ~ b`."""
        if (undefined := use_undefined(parts)) is not None:
            return undefined
        self.rendering.limits.build(sum(map(written_size, parts)))
        return str_join(parts)

    def _with_place(self, value: Any, offset: int) -> Any:
        return self._report_uses(value, offset) if isinstance(value, ReportedUndefined) else value

    def _report_uses(self, value: ReportedUndefined, offset: int) -> ReportedUndefined:
        return value.report_to(lambda undefined: self.rendering.report(undefined, self.path, offset))


def _printable(value: Any) -> Any:
    """A value that a template puts out; the repr of a function, generator or object is never what its author meant."""
    if isinstance(value, (list, tuple, dict)):
        check_size(written_size(value))
        return value
    if value is None or isinstance(value, (str, int, float, Relation, Undefined)):
        return value
    if callable(value):
        raise RefusedError("jinja-runtime", "a function or macro is put out without being called: add (…)")
    if isinstance(value, Iterator):
        raise RefusedError("jinja-runtime", "a sequence is put out before it is read: add | list or | join(', ')")
    if str(value).startswith("<"):
        raise RefusedError("jinja-runtime", f"a value of type {kind(value)} has no text")
    return value


def _no_size(*_: Any, **__: Any) -> int:
    return 0


def _limit_filter(name: str, function: Callable[..., Any], size: Callable[..., int]) -> Callable[..., Any]:
    """A filter of Jinja that counts what it reads and builds before it does; iterators are read first."""

    @pass_context
    def limited(context: ModelContext, value: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(value, Iterator) and name not in _LAZY:
            value = list(value)
        undefined = use_undefined((value, *args, *kwargs.values())) if name not in MAY_BE_UNDEFINED["filters"] else None
        if undefined is not None:
            return undefined
        context.rendering.limits.work(filter_work(name, value, args))
        if not isinstance(value, Undefined):
            with suppress(TypeError):  # the filter itself says what is wrong with its arguments
                context.rendering.limits.build(size(value, *args, **kwargs))
        result = function(*_leading(function, context), value, *args, **kwargs)
        return _count_steps(context, result) if isinstance(result, Iterator) else result

    return limited


def _count_steps(context: ModelContext, values: Iterator[Any]) -> Iterator[Any]:
    """The values that a lazy filter gives: Python's own code reads them, and asks no limits."""
    for value in values:
        context.rendering.limits.work(written_size(value))
        yield value


def _leading(function: Callable[..., Any], context: ModelContext) -> tuple[Any, ...]:
    """Return what a filter or test of Jinja has before its value."""
    pass_arg = getattr(function, "jinja_pass_arg", None)
    leading = {"context": (context,), "eval_context": (context.eval_ctx,), "environment": (context.environment,)}
    return leading.get(pass_arg.name if pass_arg else "", ())


def _of_defined(test: Any, *, divides: bool) -> Callable[..., Any]:
    """A test of Jinja that no undefined value passes silently, and that counts what it reads."""

    @pass_context
    @wraps(test)
    def of_defined(context: ModelContext, value: Any, *args: Any, **kwargs: Any) -> Any:
        if use_undefined((value, *args, *kwargs.values())) is not None:
            return False
        context.rendering.limits.work(test_work(args))
        if divides:
            operation_size("%", value, next(iter((*args, *kwargs.values())), 1))
        return test(*_leading(test, context), value, *args, **kwargs)

    return of_defined


def _literal(value: Any) -> str:
    return _quote(literal, bool(value) if isinstance(value, RunFlag) else value)


def _identifier(value: Any) -> str:
    return _quote(identifier, value)


def _column_name(value: Any) -> str:
    return _quote(column_name, value)


def _quote(quote: Callable[[Any], str], value: Any) -> str:
    if isinstance(value, Undefined):
        return str(value)
    try:
        return quote(value)
    except ValueError as error:
        raise RefusedError("jinja-runtime", str(error)) from None


def _tojson(value: Any, indent: int | None = None) -> str:
    # Jinja's own escapes <, >, & and ' for HTML.
    return json.dumps(value, indent=indent, default=_no_json)


def _no_json(value: Any) -> str:
    if isinstance(value, (Undefined, Relation)):
        return str(value)
    raise RefusedError("jinja-runtime", f"JSON has no value of type {kind(value)}")


def _relation_name(relation: Relation) -> str:
    """Return the name of a table, also where a sampled run reads a part of it; of an ephemeral model its query."""
    return str(relation if relation.schema is None else replace(relation, sql=None))


def _is_mapping(value: Any) -> bool:
    """Whether a value is a dict; a table counts, as in dbt."""
    return isinstance(value, Mapping | Relation)
