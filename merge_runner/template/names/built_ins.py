"""The names that every template sees, and the record of what they were asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NoReturn

from jinja2.runtime import Undefined

from merge_runner.errors import did_you_mean
from merge_runner.project.schema.config_layers import config_key
from merge_runner.project.syntax.environment import ALLOW, NOT_ALLOWED, EnvVar, WithheldValue
from merge_runner.relation import Relation, changes_of
from merge_runner.template.capture import Capture, Record, Ref, SourceRef
from merge_runner.template.environment import RunFlag
from merge_runner.template.kind import kind
from merge_runner.template.outcome import MacroReturn, RefusedError
from merge_runner.template.redact import redact
from merge_runner.template.rendered_text import Log
from merge_runner.text import Place

if TYPE_CHECKING:
    from merge_runner.template.current_rendering import CurrentRendering
    from merge_runner.template.relation_column import RelationColumn


_NOTHING: Any = object()
_MOST_BITS = 10_000
"""Of a number in plain data: Python writes none of more than 4,300 digits."""


class BuiltIns:
    """The built-ins of one rendering. A name that does not resolve is reported, and rendering goes on."""

    def __init__(self, rendering: CurrentRendering) -> None:
        self._rendering = rendering
        self._context = rendering.context
        self._record = Record()
        self._calls: dict[Relation, Ref | SourceRef] = {}
        self.logs: list[Log] = []

    def names(self) -> dict[str, Any]:
        """Each built-in by the name that templates call it by."""
        names: dict[str, Any] = {
            "config": InlineConfig(self._set_config, self._record.config, self._context.config),
            "ref": self.ref,
            "changes": self.changes,
            "source": self.source,
            "var": self.var,
            "env_var": self.env_var,
            "is_incremental": RunFlag(self._context.incremental),
            "is_full_refresh": RunFlag(self._context.full_refresh),
            "target": plain(self._context.target, "target"),
            "model_name": self._context.model_name,
            "log": self.log,
            "return": self.return_,
            "exceptions": Exceptions(self._warn),
        }
        if self._context.this is not None:
            names["this"] = self._context.this
        if self._context.batch is not None:
            names["batch"] = dict(self._context.batch)
        return names

    def captured(self, macros: frozenset[str]) -> Capture:
        """The record so far; `macros` are the project macros that were called."""
        return self._record.captured(macros)

    def read_this(self, value: Any) -> None:
        """Record that a template read the name `this`, unless it is a variable that the template has set."""
        if value is self._context.this:
            self._record.uses_this = True

    def ref(self, name: Any, model: Any = _NOTHING, /, *, v: Any = None, version: Any = None) -> Relation:
        """`ref('model')`, or `ref('package', 'model')` as in dbt, where the package does not count.

        With `v=2` it is the model `model_v2`, the name that dbt gives the file and table of a version.
        """
        model_name = _text(name if model is _NOTHING else model, "a model's name")
        number = v if version is None else version
        return self._resolve(Ref(model_name if number is None else f"{model_name}_v{number}", self._place()))

    def changes(self, name: Any, model: Any = _NOTHING, /) -> Relation:
        """`changes('model')`, the changes that this model has not consumed yet: a view of the session that runs it."""
        call = Ref(_text(name if model is _NOTHING else model, "a model's name"), self._place())
        self._record.changes[call] = None
        self._resolve(call)
        return changes_of(call.name)

    def _resolve(self, call: Ref) -> Relation:
        self._record.refs[call] = None
        try:
            relation = self._context.resolve_ref(call.name)
        except LookupError as error:
            self._rendering.add("unknown-ref", _message(error), call.place)
            return Relation(call.name)
        self._calls[relation] = call
        return relation

    def _place(self) -> Place:
        return self._rendering.call_place()

    def source(self, name: Any, table: Any, /) -> Relation:
        """`source('source', 'table')`."""
        name, table = _text(name, "a source's name"), _text(table, "a table's name")
        place = self._rendering.call_place()
        call = SourceRef(name, table, place)
        self._record.sources[call] = None
        try:
            relation = self._context.resolve_source(name, table)
        except LookupError as error:
            self._rendering.add("unknown-source", _message(error), place)
            return Relation(table, name)
        self._calls[relation] = call
        return relation

    def columns(self, relation: Any) -> list[RelationColumn]:
        """Return the columns of what `ref`, `source` or `this` returned, as far as text and YAML say them."""
        call = self._calls.get(relation) if isinstance(relation, Relation) else None
        if relation is self._context.this and relation is not None:
            self._record.uses_this = True
            call = Ref(self._context.model_name, self._place())
        if call is None:
            raise RefusedError("unknown-columns", f"only ref, source and this have columns, not {relation}")
        if self._context.columns is None:
            raise RefusedError("unknown-columns", f"the columns of {relation.name} are not known here")
        try:
            return list(self._context.columns(call))
        except LookupError as error:
            raise RefusedError("unknown-columns", _message(error)) from None

    def var(self, name: Any, default: Any = _NOTHING) -> Any:
        """`var('name')` or `var('name', default)`; lists and dicts come as copies."""
        name = _text(name, "a var's name")
        self._record.vars.add(name)
        if name in self._context.vars:
            return plain(self._context.vars[name], "a var")
        if default is not _NOTHING:
            return default
        near = did_you_mean(name, self._context.vars)
        hint = f"""pass it with --vars '{{"{name}": …}}', declare it in [tool.merge-runner.vars], or give a default"""
        place = self._rendering.call_place()
        self._rendering.add("undefined-var", f'the var "{name}" is not set and has no default', place, near, hint)
        return self._rendering.placeholder(name)

    def env_var(self, name: Any, default: Any = _NOTHING) -> Any:
        """`env_var('NAME')` or `env_var('NAME', default)`; no message or log shows the value.

        A variable that is withheld is its default, else a placeholder; one that is not allowed is not set.
        """
        name = _text(name, "a variable's name")
        place = self._rendering.call_place()
        self._record.env_vars[EnvVar(name, place)] = None
        value = self._context.env.get(name)
        if value is not None and not isinstance(value, WithheldValue):
            self._rendering.secrets.add(value)
            return value
        if default is not _NOTHING:
            return default
        if value is not None and value != NOT_ALLOWED:
            return str(value)
        hint = f"set it, or give a default: env_var('{name}', '…')"
        if value == NOT_ALLOWED:
            hint = f"{ALLOW} does not list it: name it there, or give a default: env_var('{name}', '…')"
        message = f'the environment variable "{name}" is not set and has no default'
        self._rendering.add("missing-env-var", message, place, hint)
        return self._rendering.placeholder(name)

    def log(self, message: Any, info: Any = False) -> str:
        """`log(message, info=true)`."""
        return self.note(message, info=bool(info))

    def note(self, message: Any, *, info: bool) -> str:
        """Keep a log; an operation shows it as soon as it is written."""
        log = Log(str(message), info, self._rendering.call_place())
        self.logs.append(log)
        if self._context.operation is not None:
            self._context.operation.log(replace(log, message=redact(log.message, self._rendering.secrets)))
        return ""

    def _warn(self, message: str) -> str:
        return self.log(f"warning: {message}", True)

    def return_(self, value: Any = None, /) -> NoReturn:
        """`return(value)` in a macro."""
        raise MacroReturn(value, self._rendering.call_place())

    def _set_config(self, values: Mapping[str, Any]) -> None:
        keywords = self._rendering.keyword_places()
        for keyword, value in values.items():
            key = config_key(keyword)
            self._record.config[key] = plain(value, f"config({key}=…)")
            self._record.config_places[key] = keywords.get(keyword) or self._rendering.call_place()


class InlineConfig:
    """`config(key=value, …)` or `config({…})` sets, `config.get(key, default)` reads.

    What the file has set so far goes before what YAML and the settings say (`described`).
    """

    def __init__(
        self, setter: Callable[[Mapping[str, Any]], None], values: Mapping[str, Any], described: Mapping[str, Any]
    ) -> None:
        self._set = setter
        self._values = values
        self._described = described

    def __call__(self, *dicts: Any, **values: Any) -> str:
        for values_of_dict in dicts:
            if not isinstance(values_of_dict, Mapping) or not all(isinstance(key, str) for key in values_of_dict):
                raise RefusedError("jinja-runtime", "config takes keywords, or a dict whose keys are texts")
            self._set(values_of_dict)
        self._set(values)
        return ""

    def get(self, key: Any, default: Any = None) -> Any:
        """The value of the key, a copy; `default` where neither this file nor YAML nor the settings set it."""
        for values in (self._values, self._described):
            if key in values:
                return plain(values[key], "config")
        return default

    def require(self, key: Any) -> Any:
        """The value of the key; RefusedError where it is not set."""
        value = self.get(key, _NOTHING)
        if value is _NOTHING:
            raise RefusedError("jinja-runtime", f'the config "{key}" is required, and not set')
        return value


class Exceptions:
    """`exceptions`, as in dbt; `warn` logs a warning that is shown."""

    def __init__(self, warn: Callable[[str], str]) -> None:
        self._warn = warn

    def warn(self, message: Any) -> str:
        """Shows a warning, and the rendering goes on."""
        return self._warn(str(message))

    def raise_compiler_error(self, message: Any) -> NoReturn:
        """Stops the rendering with the author's own message."""
        raise RefusedError("raised", str(message))


def plain(value: Any, where: str) -> Any:
    """A copy of plain data: what YAML can hold, and dates and decimals; RefusedError for anything else."""
    if isinstance(value, Mapping):
        return {plain(key, where): plain(item, where) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item, where) for item in value]
    if isinstance(value, tuple):
        return tuple(plain(item, where) for item in value)
    if isinstance(value, (str, Relation, Undefined)):
        text = str(value)
        if surrogate(text) is not None:
            raise RefusedError("jinja-runtime", f"{where} holds half of a character, which no file can hold")
        return text
    if isinstance(value, RunFlag):
        return bool(value)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise RefusedError("jinja-runtime", f"{where} holds a number of more than {_MOST_BITS:,} bits")
    if value is None or isinstance(value, (bool, int, float, Decimal, date)):
        return value
    raise RefusedError("jinja-runtime", f"{where} holds a value of type {kind(value)}, which is no plain data")


def surrogate(text: str) -> int | None:
    """Return the offset of the first half of a character (`\\ud800`), which UTF-8 does not have; None without one."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start
    return None


def _text(value: Any, subject: str) -> str:
    if not isinstance(value, (str, Undefined)):
        raise RefusedError("jinja-runtime", f"{subject} is a text, not a value of type {kind(value)}")
    return str(value)


def _message(error: LookupError) -> str:
    # str() of a KeyError puts the message in quotes.
    return str(error.args[0]) if error.args else str(error)
