"""Names of dbt's Jinja next to the built-ins: those that mean the same in every rendering of the same files.

What asks the engine, the clock or chance is not here, since the text of a model depends on the project alone; hints say
what to write instead (dbt_hints.py). A macro of the project may have any of these names, and is taken then.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import yaml

from merge_runner.template.growth import written_size
from merge_runner.template.kind import kind
from merge_runner.template.names.modules import modules
from merge_runner.template.outcome import RefusedError

if TYPE_CHECKING:
    from merge_runner.template.current_rendering import CurrentRendering
    from merge_runner.template.names.built_ins import BuiltIns
    from merge_runner.template.relation_column import RelationColumn

_NOTHING: Any = object()
_SLOW = 400
"""YAML takes some 40 microseconds for each character, and not a tenth of one (see growth.py)."""
MAX_DEPTH = 100
"""Of lists and dicts in a text of YAML: no real one is nested as deeply."""
_OWN = {"dbt_utils": "dbt"}
"""Packages some of whose macros have a form for Spark in a package that is installed with merge-runner."""


class DbtNames:
    """dbt's names in one rendering."""

    def __init__(self, rendering: CurrentRendering, built_ins: BuiltIns) -> None:
        self._rendering = rendering
        self._built_ins = built_ins

    def names(self, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return each of them by its name; `own` are the built-ins."""
        context = self._rendering.context
        this = context.this
        return {
            "adapter": Adapter(self._rendering, self._built_ins),
            "builtins": {name: own[name] for name in ("ref", "source", "config", "var", "env_var")},
            "execute": True,
            "flags": {"FULL_REFRESH": context.full_refresh, "WHICH": "build"},
            "fromjson": self.from_json,
            "fromyaml": self.from_yaml,
            "local_md5": self.local_md5,
            "modules": modules(self._rendering.limits),
            "model": {
                **context.model,
                "name": context.model_name,
                "alias": this.identifier if this is not None else None,
                "schema": this.schema if this is not None else None,
                "database": this.catalog if this is not None else None,
                "config": own["config"],
            },
            "print": self.print,
            "project_name": context.model.get("package_name"),
            "tojson": self.to_json,
            "toyaml": self.to_yaml,
            "zip": self.zip,
            "zip_strict": self.zip,
        }

    def to_json(self, value: Any, default: Any = _NOTHING, sort_keys: bool = False) -> Any:
        """`tojson(value)`; `default` where JSON cannot hold the value."""
        self._rendering.limits.build(written_size(value))
        return _value_or_default("tojson", lambda: json.dumps(value, sort_keys=sort_keys), default)

    def from_json(self, text: Any, default: Any = _NOTHING) -> Any:
        """`fromjson(text)`; `default` where the text is no JSON."""
        self._rendering.limits.build(len(_text(text)))
        return _value_or_default("fromjson", lambda: json.loads(text), default)

    def to_yaml(self, value: Any, default: Any = _NOTHING, sort_keys: bool = False) -> Any:
        """`toyaml(value)`; `default` where YAML cannot hold the value."""
        size = written_size(value)
        self._rendering.limits.build(size)
        self._rendering.limits.work(size * _SLOW)
        return _value_or_default(
            "toyaml", lambda: yaml.safe_dump(value, sort_keys=sort_keys, allow_unicode=True), default, yaml.YAMLError
        )

    def from_yaml(self, text: Any, default: Any = _NOTHING) -> Any:
        """`fromyaml(text)`; `default` where the text is no YAML. Aliases are refused: a short text could be endless."""
        self._rendering.limits.work(len(_text(text)) * _SLOW)

        def load() -> Any:
            depth = 0
            for event in yaml.parse(text, Loader=yaml.SafeLoader):
                match event:
                    case yaml.AliasEvent():
                        raise ValueError("an alias (*name) is not allowed")
                    case yaml.CollectionStartEvent():
                        depth += 1
                    case yaml.CollectionEndEvent():
                        depth -= 1
                if depth > MAX_DEPTH:  # the time that PyYAML takes grows with the square of it
                    raise ValueError(f"more than {MAX_DEPTH} levels of nesting")
            return yaml.safe_load(text)

        return _value_or_default("fromyaml", load, default, yaml.YAMLError)

    def zip(self, *lists: Any, default: Any = _NOTHING) -> Any:
        """`zip(a, b)` as a list; `default` where one of them is no list."""
        for item in lists:
            if not isinstance(item, Iterable):
                if default is _NOTHING:
                    raise RefusedError("jinja-runtime", f"zip takes lists, not a value of type {kind(item)}")
                return default
        zipped = []
        for items in zip(*lists, strict=False):
            self._rendering.limits.step()
            zipped.append(items)
        return zipped

    def local_md5(self, value: Any) -> str:
        """`local_md5(text)`: the hexadecimal MD5 of a text."""
        text = _text(value)
        self._rendering.limits.work(len(text))
        return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()

    def print(self, message: Any) -> str:
        """`print(message)`: a log that is shown."""
        return self._built_ins.note(message, info=True)


class Adapter:
    """`adapter`: what of it needs no engine."""

    def __init__(self, rendering: CurrentRendering, built_ins: BuiltIns) -> None:
        self._rendering = rendering
        self._built_ins = built_ins

    def get_columns_in_relation(self, relation: Any) -> list[RelationColumn]:
        """The columns of a table, as the project's text and YAML say; an error where they do not say all."""
        return self._built_ins.columns(relation)

    def dispatch(self, macro_name: Any, macro_namespace: Any = None, packages: Any = None) -> Any:
        """The macro `spark__NAME`, else `default__NAME`: of the project, then of the package that is the namespace.

        Where the profile names another adapter, such as databricks, its own macros go before those of Spark.

        Of a package's macro that asks the engine for its text there may be one here, `spark__NAME` of `dbt`.
        """
        prefixes = dict.fromkeys((self.type(), "spark", "default"))
        names = [f"{prefix}__{_text(macro_name)}" for prefix in prefixes]
        package = _text(macro_namespace) if macro_namespace is not None else None
        for_spark = (names[-2], _OWN.get(package or ""))
        for name, where in (*((name, package) for name in names[:-1]), for_spark, (names[-1], package)):
            macro = self._rendering.macro_named(name, where)
            if macro is not None:
                return macro
        where = "the project" if package is None else f"the project and in {package}"
        raise RefusedError("undefined-name", f"there is no macro {' or '.join(names)} in {where}")

    def type(self) -> str:
        """Return `target.type`."""
        return str(self._rendering.context.target.get("type", "spark"))

    def quote(self, identifier: Any) -> str:
        """A name in backquotes."""
        return "`" + _text(identifier).replace("`", "``") + "`"


def _value_or_default(subject: str, make: Callable[[], Any], default: Any, also: type[Exception] = ValueError) -> Any:
    try:
        return make()
    except (TypeError, ValueError, RecursionError, also) as error:
        if default is _NOTHING:
            message = str(error).partition("\n")[0] or type(error).__name__
            raise RefusedError("jinja-runtime", f"{subject}: {message}") from None
        return default


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise RefusedError("jinja-runtime", f"it takes a text, not a value of type {kind(value)}")
    return value
