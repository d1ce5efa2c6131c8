"""The values that Jinja gives to dbt's config: those of YAML files as dbt renders them, those of `config()` calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from merge_runner.conversion.dbt.config_call import UNKNOWN, Value
from merge_runner.errors import Problems, ProblemsError
from merge_runner.project.schema.config_layers import config_key
from merge_runner.project.syntax.places import KeyPath
from merge_runner.project.syntax.value_template import TemplateNames, ValueTemplate
from merge_runner.project.syntax.yaml_tree import YamlTree
from merge_runner.relation import Relation
from merge_runner.template.context import Context, model_values
from merge_runner.template.relation_column import RelationColumn
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText

LATE = frozenset(
    {
        *("pre_hook", "post_hook", "sql_header", "incremental_predicates", "predicates", "matched_condition"),
        *("not_matched_condition", "not_matched_by_source_condition", "not_matched_by_source_action"),
    }
)
"""Keys whose Jinja goes into the text of the new model, or is rendered with it."""
_Result = TypeVar("_Result")
_COLUMNS = (RelationColumn("a_column", "string"),)


@dataclass(frozen=True)
class Rendering:
    """What dbt's Jinja knows while it reads config: the vars, the target where it is known, the environment."""

    vars: Mapping[str, Any]
    target: Mapping[str, Any] | None
    env: Mapping[str, str]

    def of_yaml(self, value: Any, tree: YamlTree, at: KeyPath) -> Value:
        """Return the value at a path of a YAML file of dbt's; UNKNOWN where its Jinja cannot be rendered here."""
        if not holds_jinja(value):
            return Value.of(value)
        problems = Problems()
        context = TemplateNames(tree.source.path, "", self.vars, self.target)
        content = ValueTemplate(tree, context, self.env, problems).render(value, at)
        spelling = value if isinstance(value, str) else repr(value)
        if len(problems):
            return Value(spelling, UNKNOWN, spelling)
        return replace(Value.of(content), written=spelling)


@dataclass
class ModelRendering:
    """Renders models for the values of their `config()`; a macro that cannot be read leaves them unknown."""

    rendering: Rendering
    project: str
    macros: list[SourceText]
    packages: Mapping[str, list[SourceText]] = field(default_factory=dict)

    def config(self, name: str, source: SourceText, folder: tuple[str, ...]) -> Mapping[str, Any]:
        """Return the config that a model's file sets when dbt parses it; empty where it cannot be rendered."""
        if self._templates is None:
            return {}
        context = Context(
            model_name=name,
            this=Relation(name),
            resolve_ref=Relation,
            resolve_source=lambda source, table: Relation(table, source),
            vars=self.rendering.vars,
            env=self.rendering.env,
            target=self.rendering.target or {},
            full_refresh=False,
            model=model_values("model", (self.project, *folder, name), source.path),
            columns=lambda _: _COLUMNS,
        )
        return _if_readable(lambda: self._capture(source, context)) or {}

    def _capture(self, source: SourceText, context: Context) -> Mapping[str, Any]:
        assert self._templates is not None
        return self._templates.capture(source, context).config.values

    @cached_property
    def _templates(self) -> Templates | None:
        return _if_readable(lambda: Templates(self.macros, self.packages))


def with_rendered(config: Mapping[str, Value], rendered: Mapping[str, Any]) -> dict[str, Value]:
    """Return a config with the values of expressions that rendering, or the manifest, shows."""
    values = dict(config)
    for key, value in config.items():
        name = next((spelling for spelling in (key, config_key(key)) if spelling in rendered), None)
        if not value.is_known and key not in LATE and name is not None:
            values[key] = Value(value.expression, rendered[name], value.expression)
    return values


def holds_jinja(value: Any) -> bool:
    """Whether a value of YAML, or a text in it, has Jinja."""
    if isinstance(value, Mapping):
        return any(map(holds_jinja, value.values()))
    if isinstance(value, list):
        return any(map(holds_jinja, value))
    return isinstance(value, str) and ("{{" in value or "{%" in value)


def _if_readable(action: Callable[[], _Result]) -> _Result | None:
    try:
        return action()
    except ProblemsError:
        return None
