"""The files of a project that MERGEs become: models, their sources, and what the author has to decide."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from merge_runner.conversion.merge_to_import import MergeToImport
from merge_runner.conversion.model_text import ModelText, Vars, config_text
from merge_runner.errors import Problem
from merge_runner.formats.registry import table_format_of
from merge_runner.merge.syntax.placeholder import as_written, has_placeholder
from merge_runner.plan.layout.layout_file import TableKey
from merge_runner.pruning.layout.layout import TableColumn, TableLayout
from merge_runner.text import Place

MODELS = "models"
_SCHEMA_MACRO = """{#- A model's `schema` is the schema itself: the tables were there before. -#}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {{ custom_schema_name or target.schema }}
{%- endmacro %}
"""


@dataclass(frozen=True)
class Decision:
    """What the author has to decide or to check, and the place that it is about."""

    place: Place
    model: str
    text: str


@dataclass
class ProjectFiles:
    """Texts by path, relative to the project. `models` are those of models, with the places of their MERGEs."""

    texts: dict[str, str] = field(default_factory=dict)
    models: dict[str, Place] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)


@dataclass
class _Model:
    merge: MergeToImport
    name: str
    table: TableKey
    layout: TableLayout | None
    reads: set[str] = field(default_factory=set)


def project_files(merges: Sequence[MergeToImport], folder: Path, *, is_project: bool) -> ProjectFiles:
    """Return the files of the project in `folder`; without settings and profile where it `is_project` already."""
    return _Conversion(merges, folder.resolve().name, is_project=is_project).files()


class _Conversion:
    def __init__(self, merges: Sequence[MergeToImport], project: str, *, is_project: bool) -> None:
        self.project = _name(project)
        self.is_project = is_project
        self.output = ProjectFiles()
        self.vars = Vars()
        self.views: dict[str, str] = {}
        """The names of ephemeral models by the texts of their queries."""
        self.sources: dict[str, dict[str, tuple[TableKey, TableLayout | None]]] = {}
        self.folders: dict[str, tuple[str, str]] = {}
        """The folders that are read as tables, with their formats, by name."""
        self.models = self._models(merges)
        self.writers: dict[TableKey, _Model] = {}
        for model in self.models:
            self.writers.setdefault(model.table, model)
        schemas = Counter(model.table[-2] for model in self.models if len(model.table) > 1)
        self.schema = schemas.most_common(1)[0][0] if schemas else self.project
        self.several = len(schemas) > 1

    def files(self) -> ProjectFiles:
        for model in self.models:
            self._add_model(model)
        if unknown := [model for model in self.models if model.layout is None]:
            names = ", ".join(model.name for model in unknown)
            self._decide(unknown[0], f"no layout is known of {names}: add partition_by, cluster_by and columns")
        texts = self.output.texts
        if described := [self._describe(model) for model in self.models if model.layout is not None]:
            texts[f"{MODELS}/models.yml"] = _yaml({"version": 2, "models": described})
        if self.sources:
            texts[f"{MODELS}/sources.yml"] = _yaml({"version": 2, "sources": self._sources()})
        if self.several:
            texts["macros/generate_schema_name.sql"] = _SCHEMA_MACRO
        if not self.is_project:
            texts["pyproject.toml"] = self._settings()
            outputs = {"local": {"master": "local[*]", "schema": self.schema, "warehouse": "warehouse"}}
            texts["profiles.yml"] = _yaml({self.project: {"target": "local", "outputs": outputs}})
        return self.output

    def _models(self, merges: Sequence[MergeToImport]) -> list[_Model]:
        models: list[_Model] = []
        uses: Counter[str] = Counter()
        for merge in merges:
            parts = merge.target
            key = merge.key(parts) or ("merge",)
            is_unknown = _path(key) is not None or any(map(has_placeholder, key[:-1]))
            table = (_name(key[-1]),) if is_unknown else tuple(map(_name, key))
            name = table[-1]
            uses[name] += 1
            name = name if uses[name] == 1 else f"{name}_{uses[name]}"
            known_table = merge.table(parts)
            models.append(_Model(merge, name, table, known_table.layout if known_table is not None else None))
        return models

    def _add_model(self, model: _Model) -> None:
        merge = model.merge
        text_of = self._text_of(model)
        text = text_of.of_merge(merge.statement)
        first = self.writers[model.table]
        alias = model.table[-1] if model.name != model.table[-1] else None
        schema = model.table[-2] if len(model.table) > 1 and model.table[-2] != self.schema else None
        head = f"-- imported from {merge.place}\n"
        path = f"{MODELS}/{model.name}.sql"
        self.output.texts[path] = head + config_text(model.layout, schema=schema, alias=alias) + text + "\n"
        self.output.models[path] = merge.place
        if first is not model:
            self._decide(model, f"it writes the table of {first.name} too: make one model of both, or order them")
        target = merge.statement.target
        key = merge.key(merge.target)
        target_name = as_written(".".join(key) or target.relation.of(merge.statement.text))
        if _path(key) is not None:
            self._decide(
                model, f"its target was the folder {_path(key)}: create a table there, and name it by schema and alias"
            )
        elif not key or any(map(has_placeholder, key)):
            self._decide(model, f"its target was {target_name}: the profile and `schema` name where the table is now")
        elif len(key) > 2:
            self._decide(
                model,
                f"its target was {target_name}: "
                f"name its catalog in the profile (`schema: {target_name.rpartition('.')[0]}`)",
            )
        for name, spelling in text_of.filled.items():
            self._decide(model, f"`{spelling}` was filled at run time: give the var `{name}` a value")

    def _text_of(self, model: _Model) -> ModelText:
        merge = model.merge
        return ModelText(merge.place.path, lambda parts: self._call(model, parts), self.vars, merge.variables)

    def _call(self, model: _Model, parts: tuple[str, ...]) -> str | None:
        """Return what a table of the source becomes."""
        key = tuple(_name(part) for part in model.merge.key(parts))
        if key == model.table:
            return "{{ this }}"
        writer = self.writers.get(key)
        if writer is not None and not self._reads(writer, model.name):
            model.reads.add(writer.name)
            return f"{{{{ ref('{writer.name}') }}}}"
        if writer is not None:
            self._decide(model, f"it reads {writer.name}, which reads it in turn: this one reads the table as a source")
        table = model.merge.table(parts)
        if table is not None and table.query is not None:
            return f"{{{{ ref('{self._view(model, key[-1], table.query)}') }}}}"
        path = _path(parts)
        if path is not None:
            key = ("folders", key[-1])
            self.folders[key[-1]] = path, parts[0]
        group = "_".join(key[:-1]) or "imported"
        if table is None and len(parts) == 1:
            self._decide(
                model,
                f"`{as_written(parts[0])}` is in no schema that the files name, or is made by code: "
                "declare where it is in models/sources.yml, or write a model for it",
            )
        elif any(map(has_placeholder, parts)):
            spelling = as_written(".".join(parts))
            self._decide(model, f"a source was {spelling}: declare where it is in models/sources.yml")
        layout = table.layout if table is not None else None
        self.sources.setdefault(group, {})[key[-1]] = (key, layout)
        return f"{{{{ source('{group}', '{key[-1]}') }}}}"

    def _view(self, model: _Model, name: str, query: str) -> str:
        """Return the ephemeral model of a temporary view, or of another view of the files."""
        if query not in self.views:
            names = {other.name for other in self.models} | set(self.views.values())
            number, base = 1, name
            while name in names:
                number += 1
                name = f"{base}_{number}"
            self.views[query] = name
            text_of = self._text_of(model)
            text = text_of.of_query(query)
            head = f"-- the query of a view, imported with {model.merge.place}\n"
            self.output.texts[f"{MODELS}/{name}.sql"] = f"{head}{{{{ config(materialized='ephemeral') }}}}\n\n{text}\n"
            for var, spelling in text_of.filled.items():
                self._decide(model, f"`{spelling}` was filled at run time: give the var `{var}` a value")
        return self.views[query]

    def _reads(self, model: _Model, name: str) -> bool:
        """Whether a model reads another one, directly or through others."""
        by_name = {other.name: other for other in self.models}
        return name in model.reads or any(self._reads(by_name[ref], name) for ref in model.reads)

    def _decide(self, model: _Model, text: str) -> None:
        decision = Decision(model.merge.place, model.name, text)
        if decision not in self.output.decisions:
            self.output.decisions.append(decision)

    def _describe(self, model: _Model) -> dict[str, Any]:
        entry: dict[str, Any] = {"name": model.name}
        if model.layout is not None and model.layout.columns:
            entry["columns"] = [_column(column) for column in model.layout.columns]
        return entry

    def _sources(self) -> list[dict[str, Any]]:
        sources = []
        for group, tables in sorted(self.sources.items()):
            entry: dict[str, Any] = {"name": group}
            *catalog, schema = next(iter(tables.values()))[0][:-1] or (self.schema,)
            if schema != group:
                entry["schema"] = schema
            if catalog:
                entry["catalog"] = catalog[0]
            entry["tables"] = [_table(name, layout) for name, (_, layout) in sorted(tables.items())]
            if group == "folders":
                entry = {"name": group, "tables": [self._folder(name) for name in sorted(tables)]}
            sources.append(entry)
        return sources

    def _folder(self, name: str) -> dict[str, Any]:
        path, format = self.folders[name]
        return {"name": name, "path": path, "format": format}

    def _settings(self) -> str:
        lines = ["[tool.merge-runner]", f'name = "{self.project}"']
        if self.vars.spellings:
            lines += ["", "[tool.merge-runner.vars]  # what was filled at run time: give each a value"]
            lines += [f"# {name} =  # {spelling}" for name, spelling in self.vars.spellings.items()]
        return "\n".join(lines) + "\n"


def report(files: ProjectFiles, left_out: Sequence[Problem]) -> str:
    """Return what was imported from where, what was not, and what is left to decide, as Markdown."""
    lines = ["# Imported MERGEs", "", "| model | from |", "|---|---|"]
    lines += [f"| {path} | {place} |" for path, place in files.models.items()]
    lines += ["", "## To decide", ""]
    lines += [f"- {decision.model} ({decision.place}): {decision.text}" for decision in files.decisions] or ["Nothing."]
    if left_out:
        lines += ["", "## Not imported", "", *(f"- {problem.place or ''}: {problem.message}" for problem in left_out)]
    return "\n".join(lines) + "\n"


def _path(parts: Sequence[str]) -> str | None:
    """Return the folder that a name such as delta.`/data/t` means; None for that of a table."""
    if len(parts) != 2:
        return None
    filled = table_format_of(parts[0].lower()) is not None and has_placeholder(parts[1])
    return as_written(parts[1]) if filled or "/" in parts[1] or ":" in parts[1] else None


def _name(text: str) -> str:
    """Return a name that Jinja, files and Spark take as it is."""
    return re.sub(r"\W+", "_", as_written(text)).strip("_").lower() or "merge"


def _table(name: str, layout: TableLayout | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": name}
    if layout is None:
        return entry
    if layout.format is not None:
        entry["format"] = layout.format
    for key, columns in (("partition_by", layout.partition_by), ("cluster_by", layout.cluster_by)):
        if columns is not None:
            entry[key] = [str(column) for column in columns]
    if layout.columns:
        entry["columns"] = [_column(column) for column in layout.columns]
    return entry


def _column(column: TableColumn) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": column.name}
    if column.data_type is not None:
        entry["data_type"] = str(column.data_type)
    constraints: list[dict[str, str]] = [{"type": "not_null"}] if column.nullable is False else []
    if column.generated is not None:
        constraints.append({"type": "custom", "expression": f"generated always as ({column.generated})"})
    if constraints:
        entry["constraints"] = constraints
    return entry


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=1 << 20)
