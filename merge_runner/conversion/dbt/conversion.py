"""The files of a merge-runner project out of those of a dbt project; what cannot be one of them becomes a source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from merge_runner.conversion.dbt.adapter import adapter_decisions, check_adapter
from merge_runner.conversion.dbt.config_call import ConfigCall, Value
from merge_runner.conversion.dbt.config_keys import (
    INCREMENTAL_KEYS,
    SNAPSHOT_KEYS,
    ConfigTranslation,
    dbt_key,
    translate_config,
)
from merge_runner.conversion.dbt.known_values import ModelRendering, holds_jinja
from merge_runner.conversion.dbt.merge_model import Merge, merge_of, strategy_of
from merge_runner.conversion.dbt.microbatch_model import microbatch_merge
from merge_runner.conversion.dbt.model_text import config_call, head_and_query
from merge_runner.conversion.dbt.packages import package_files
from merge_runner.conversion.dbt.project import DbtFolder, DbtModelFile, blocks, rendered_config
from merge_runner.conversion.dbt.property_file import Described, PropertyFile
from merge_runner.conversion.dbt.references import SOURCE, with_sources
from merge_runner.conversion.dbt.settings_files import SettingsFile, SettingsWriter, profiles
from merge_runner.conversion.dbt.snapshot_model import snapshot_merge
from merge_runner.conversion.dbt.todo import LeftOutError, Todo, in_file
from merge_runner.errors import Problem, Problems
from merge_runner.lint.dbt.merge import DECIDING
from merge_runner.lint.finding import Finding
from merge_runner.project.load.find_project import PYPROJECT
from merge_runner.project.schema.profile import FILE as PROFILES
from merge_runner.project.schema.selectors import FILE as SELECTORS
from merge_runner.project.syntax.places import KeyPath
from merge_runner.project.syntax.read_text import read_text
from merge_runner.template.static.macro_definitions import macro_definitions
from merge_runner.text import Place, SourceText

_MATERIALIZATION = re.compile(r"\{%-?\s*materialization\s+(\w+)")
_END = re.compile(r"endmaterialization\s*-?%\}\n?")
_ICEBERG = re.compile(r"\bformat ?[=:] ?['\"]?iceberg\b")
_CREATING = frozenset(name for name in DECIDING if "create_" in name)
"""Macros of dbt that create the table of a first run, and the view of the rows that are merged."""
_CREATING |= {name.replace("spark__", "databricks__") for name in _CREATING}
_MERGING = DECIDING - _CREATING
_MERGING |= {name.replace("spark__", "databricks__") for name in _MERGING}
_BUILT = ("table", "view", "ephemeral")
_DECIDING = (*INCREMENTAL_KEYS, *SNAPSHOT_KEYS, "materialized", "unique_key", "enabled")
"""Config keys by which the import decides what a model becomes."""
NOT_YET_KNOWN = "dbt_unknown_column"
"""In the place of the columns of a query that are known only when the project can be loaded."""


@dataclass(frozen=True)
class ImportedModel:
    """A model of the new project: its `path`, where it comes from, and what it was in dbt."""

    name: str
    path: str
    place: Place
    dbt: str
    materialized: str

    def as_json(self) -> dict[str, Any]:
        """The entry of the report."""
        return {
            "name": self.name,
            "path": self.path,
            "from": str(self.place.path),
            "dbt": self.dbt,
            "materialized": self.materialized,
        }


@dataclass
class Files:
    """A project as it will be: texts and copies by path, what was imported, and what is left to decide."""

    texts: dict[str, str] = field(default_factory=dict)
    copies: dict[str, Path] = field(default_factory=dict)
    models: list[ImportedModel] = field(default_factory=list)
    todos: list[Todo] = field(default_factory=list)
    settings: SettingsFile | None = None
    """pyproject.toml, without its comments."""


class Conversion:
    """Makes the files of the project `name`. What turns out not to work is left out, and the files are made again."""

    def __init__(self, project: DbtFolder, name: str) -> None:
        self.project = project
        self.name = name
        self.packages = package_files(project.root)
        self.left_out: dict[str, Todo] = {}
        """Models by name, and why they are not imported."""
        self.left_out_files: dict[str, Todo] = {}
        self.decisions: dict[tuple[str, str], Todo] = {}
        """What lint says that the author has to decide, by the path of the model and the rule."""
        self.left_out_settings: dict[KeyPath, Todo] = {}
        """What of dbt_project.yml is left out, by its path there."""
        self.columns: dict[str, tuple[str, ...] | None] = {}
        """The columns of the queries of models, once they have been looked up."""
        self.columns_needed: set[str] = set()
        """The models whose columns the text of a MERGE needs."""
        self.properties = [
            PropertyFile(tree, self._source_of, self._description_of, self._typed_column_of, project.rendering.of_yaml)
            for tree in project.properties
        ]
        macros = [
            source
            for path, file in project.copied.items()
            if self._is_macro(path) and (source := read_text(file, path, Problems(), project.boundary)) is not None
        ]
        definitions = [macro for source in macros for macro in macro_definitions(source)]
        self._macros = {macro.name for macro in definitions}
        self._creating = [macro for macro in definitions if macro.name in _CREATING]
        rendering = ModelRendering(project.rendering, project.name, macros, _macros_of_packages(self.packages.contents))
        self.models = [rendered_config(project, model, rendering) for model in project.models]
        check_adapter(project.connection, self.models)
        for source in project.python:
            hint = "write the model in SQL"
            todo = Todo("left-out", "a Python model is not imported", Place(source.path, 1, 1), hint)
            self.left_out[PurePosixPath(source.path).stem] = todo

    def files(self, *, has_findings: bool = False) -> Files:
        """Return the files by what is known now."""
        files = Files(dict(self.packages.contents), todos=list(self.packages.todos))
        for model in self.models:
            if model.name not in self.left_out:
                try:
                    self._add_model(model, files)
                except LeftOutError as error:
                    self.left_out[model.name] = Todo("left-out", str(error), error.place, error.hint, model=model.name)
        # Refs of what has been left out meanwhile are in texts that were made before.
        for imported in files.models:
            files.texts[imported.path] = with_sources(files.texts[imported.path], self._source_of)
        for path, file in self.project.copied.items():
            self._add_copy(path, file, files)
        for properties in self.properties:
            text = properties.text()
            files.todos += [*properties.todos, *properties.left_out.values()]
            if text is not None:
                files.texts[properties.path] = text
        if self.left_out:
            files.texts[self._free(files, f"{self.project.paths['model-paths'][0]}/dbt_source.yml")] = self._source()
        if (self.project.root / SELECTORS).is_file() and SELECTORS not in self.left_out_files:
            files.copies[SELECTORS] = self.project.root / SELECTORS
        paths = (*files.texts, *files.copies)
        writer = SettingsWriter(self.project, self.name, files.todos, self.left_out_settings)
        files.settings = writer.file(paths, has_findings=has_findings)
        files.texts[PYPROJECT] = files.settings.text
        has_iceberg = any(_ICEBERG.search(text) for text in files.texts.values())
        files.texts[PROFILES] = profiles(self.project, self.name, self._schema, has_iceberg=has_iceberg)
        files.todos += self._profile_todos(files)
        files.todos += [
            *self.left_out.values(),
            *self.left_out_files.values(),
            *self.left_out_settings.values(),
            *self.decisions.values(),
        ]
        _with_comments(files)
        return files

    def columns_of(self, model: str) -> tuple[str, ...] | None:
        """Return the columns of a model's query: unknown until `columns` has them."""
        self.columns_needed.add(model)
        return self.columns.get(model, (NOT_YET_KNOWN,))

    def leave_out(self, problem: Problem, files: Files) -> bool:
        """Leave out what a problem of the files is about; return whether that is known."""
        place = problem.place
        if place is None:
            return False
        for path in (place.path, *(call.partition(":")[0] for call in problem.calls)):
            model = next((model for model in self.models if self._path(model) == path), None)
            if model is not None and model.name not in self.left_out:
                at = _same_line(model.source, files.texts[path], place) if path == place.path else model.place
                self.left_out[model.name] = Todo("left-out", problem.message, at, problem.hint, model=model.name)
                return True
        for properties in self.properties:
            if properties.path == place.path and properties.leave_out(problem, files.texts.get(place.path, "")):
                return True
        if place.path == PYPROJECT and files.settings is not None:
            comments = files.texts[PYPROJECT].split("\n").index(files.settings.lines[0])
            line = place.line - 1 - comments
            origin = files.settings.origins[line] if line < len(files.settings.origins) else None
            if origin is not None and origin not in self.left_out_settings:
                at = self.project.settings.key_place(origin)
                self.left_out_settings[origin] = Todo("left-out", problem.message, at, problem.hint)
                return True
        if place.path in (*self.project.copied, SELECTORS) and place.path not in self.left_out_files:
            self.left_out_files[place.path] = Todo("left-out", problem.message, place, problem.hint)
            return True
        return False

    def decide(self, finding: Finding, files: Files) -> bool:
        """Make what lint finds in the MERGE of a model a decision of its author; return whether it was none before."""
        path = finding.place.path
        model = next((model for model in self.project.models if self._path(model) == path), None)
        if model is None or path not in files.texts or (path, finding.code) in self.decisions:
            return False
        place = model.place_of("not_matched_by_source_action", "incremental_strategy", "materialized")
        todo = Todo("decide", finding.message, place, finding.hint, in_file(path), warns=True)
        self.decisions[path, finding.code] = todo
        return True

    def _add_model(self, model: DbtModelFile, files: Files) -> None:
        path = self._path(model)
        if model.is_snapshot:
            head, query = head_and_query(model)
            merge = snapshot_merge(model, query, self.columns_of)
            self._add_merge(model, head, merge, f"snapshot, {model.setting('strategy')}", files)
        elif model.setting("materialized") == "incremental":
            if overrides := sorted(_MERGING & self._macros):
                hint = "write the MERGE as the macro has it"
                raise LeftOutError(f"the project's macro {overrides[0]} decides what is merged", hint, model.place)
            head, query = head_and_query(model)
            strategy = strategy_of(model, self.project.connection.adapter)
            facts = (model, query, self.project.connection.adapter, self.columns_of)
            if strategy == "microbatch":
                is_typed = any(properties.keeps_type(model.name) for properties in self.properties)
                merge = microbatch_merge(*facts, self.project.event_times, is_typed=is_typed)
            else:
                merge = merge_of(*facts)
            self._add_merge(model, head, merge, f"incremental, {strategy}", files)
        elif (materialization := model.setting("materialized") or "view") in _BUILT:
            text, at = model.source.text, 0
            pieces = []
            files.todos += self._rendered_todos(model, path)
            for call in model.calls:
                config = translate_config(_own(model, call), str(materialization))
                files.todos += _key_todos(model, path, config)
                pieces += [text[at : call.span.start], config_call(config.values)]
                at = call.span.end
            files.texts[path] = "".join([*pieces, text[at:]])
            files.models.append(
                ImportedModel(model.name, path, model.place, str(materialization), str(materialization))
            )
        else:
            hint = "Spark has none for Delta and Iceberg: write a table or a merge"
            raise LeftOutError(
                f"{model.name} has the materialization {materialization}", hint, model.place_of("materialized")
            )

    def _add_merge(self, model: DbtModelFile, head: str, merge: Merge, dbt: str, files: Files) -> None:
        path = self._path(model)
        # A snapshot has its whole config in its file: there is no folder of snapshots any more.
        own = {key: value for call in model.calls for key, value in _own(model, call).items()}
        config = translate_config(model.config if model.is_snapshot else own)
        files.todos += self._rendered_todos(model, path)
        values = {"materialized": Value.of("merge"), **config.values, **merge.config}
        files.todos += _key_todos(model, path, config)
        files.todos += [Todo("decide", text, place, None, in_file(path)) for text, place in merge.notes]
        if (schema := model.config.get("target_schema")) and schema.value:
            values["schema"] = schema
            message, hint = "dbt takes target_schema as it is", "override generate_schema_name"
            files.todos.append(Todo("decide", message, model.place_of("target_schema"), hint, in_file(path)))
        parts = [head, config_call(values)]
        files.texts[path] = "\n".join([*filter(None, parts), "", merge.text])
        files.models.append(ImportedModel(model.name, path, model.place, dbt, "merge"))

    def _rendered_todos(self, model: DbtModelFile, path: str) -> list[Todo]:
        """What is left to decide of config that decides about the text and that depends on dbt's target."""
        target = self.project.connection.target
        decides = _DECIDING if model.is_snapshot or model.materialized.value == "incremental" else ("materialized",)
        return [
            Todo(
                "decide",
                f"`{key}: {value.written}` is {value.value!r}, as dbt renders it for the target {target}",
                model.place_of(key),
                "another target of dbt may have another text",
                in_file(path),
            )
            for key, value in model.config.items()
            if value.is_known and key in decides and "target" in (value.written or "")
        ]

    def _add_copy(self, path: str, file: Path, files: Files) -> None:
        if path in self.left_out_files:
            return
        models = self.project.paths["model-paths"]
        is_docs = file.suffix == ".md" and not any(path.startswith(f"{folder}/") for folder in models)
        if file.suffix != ".sql" and not is_docs:
            files.copies[path] = file
            return
        source = read_text(file, path, Problems(), self.project.boundary)
        if source is None:
            return
        if is_docs:  # docs blocks are read from the folders of models
            files.texts[f"{models[0]}/{path}"] = source.text
            return
        if self._is_macro(path):
            source = self._without_materializations(source, files)
        text = with_sources(source.text, self._source_of)
        files.texts[path] = text

    def _without_materializations(self, source: SourceText, files: Files) -> SourceText:
        pieces, at = [], 0
        for begin, end in blocks(source.text, _MATERIALIZATION, _END):
            message, hint = f"the materialization {begin[1]} is left out", "a model is its own MERGE or query"
            files.todos.append(Todo("left-out", message, source.place(begin.start()), hint, in_file(source.path)))
            pieces.append(source.text[at : begin.start()])
            at = end.end()
        return SourceText(source.path, "".join([*pieces, source.text[at:]]))

    def _is_macro(self, path: str) -> bool:
        return path.endswith(".sql") and any(
            path.startswith(f"{folder}/") for folder in self.project.paths["macro-paths"]
        )

    def _path(self, model: DbtModelFile) -> str:
        """The path of a model: that of its file; a snapshot gets one with its name."""
        source = PurePosixPath(model.source.path)
        if not model.is_snapshot:
            return str(source)
        folders = self.project.paths["snapshot-paths"]
        inside = next((folder for folder in folders if str(source).startswith(f"{folder}/")), None)
        return f"{source.parent if inside else folders[0]}/{model.name}.sql"

    def _description_of(self, name: str) -> Described:
        model = next((model for model in self.models if model.name == name), None)
        if model is None:
            return "types"
        if model.materialized.value == "ephemeral":
            return "query"
        contract = model.config.get("contract", Value.of(None)).value
        if isinstance(contract, Mapping) and contract.get("enforced") is True:
            return "enforced"
        return "names" if model.is_snapshot or model.materialized.value == "incremental" else "types"

    def _typed_column_of(self, name: str) -> str | None:
        """The time of a microbatch model's rows: its windows are literals of the type that YAML declares."""
        model = next((model for model in self.models if model.name == name), None)
        if model is None or model.config.get("incremental_strategy", Value.of(None)).value != "microbatch":
            return None
        time = model.config.get("event_time", Value.of(None)).value
        return time if isinstance(time, str) else None

    def _source_of(self, name: str) -> str | None:
        return name if name in self.left_out else None

    @property
    def _schema(self) -> str:
        """The schema of the profile."""
        return self.project.connection.schema or self.project.name

    def _source(self) -> str:
        """The declaration of the tables that dbt goes on to build."""
        tables = [self._source_table(name) for name in sorted(self.left_out)]
        source: dict[str, Any] = {"name": SOURCE, "schema": self._schema}
        if self.project.connection.catalog:
            source["catalog"] = self.project.connection.catalog
        note = "# What dbt goes on to build: models that are not imported (import_report.md).\n"
        return note + yaml.safe_dump({"version": 2, "sources": [{**source, "tables": tables}]}, sort_keys=False)

    def _source_table(self, name: str) -> dict[str, Any]:
        table: dict[str, Any] = {"name": name}
        model = next((model for model in self.models if model.name == name), None)
        if model is not None:
            if (alias := model.config.get("alias")) is not None and _is_name(alias.value):
                table["identifier"] = alias.value
            if (schema := model.config.get("schema")) is not None and _is_name(schema.value):
                table["schema"] = f"{self._schema}_{schema.value}"
        return table

    def _profile_todos(self, files: Files) -> list[Todo]:
        """What is left to decide of the adapter and the profile."""
        has_merges = any(model.materialized == "merge" for model in files.models)
        copied = [source for path in self.project.copied if (source := self._read_copy(path)) is not None]
        templates = [*(model.source for model in self.models), *copied]
        todos = adapter_decisions(self.project.connection, templates, has_merges=has_merges)
        if self.project.connection.schema is None:
            message = f"the schema of dbt's profile is not known: it is `{self._schema}` here"
            todos.append(Todo("decide", message, None, "write it as `schema` of the profile", in_file(PROFILES)))
        hint = "leave it out, and write into the models what it changes of their rows"
        for macro in self._creating if has_merges else ():
            message = f"dbt creates tables by {macro.name}, and merge-runner does not"
            todos.append(Todo("decide", message, macro.place, hint, warns=True))
        hint = "name your Spark (`master` or `remote`) and catalog; models find the tables of dbt by schema and name"
        message = "the profile is a Spark on this machine, with its tables in a folder"
        todos.append(Todo("decide", message, None, hint, in_file(PROFILES)))
        return todos

    def _read_copy(self, path: str) -> SourceText | None:
        """The text of a file that is taken as it is, where it is a template."""
        is_template = path.endswith(".sql") and path not in self.left_out_files
        return read_text(self.project.copied[path], path, Problems(), self.project.boundary) if is_template else None

    def _free(self, files: Files, path: str) -> str:
        return path if path not in files.texts else path.replace(".yml", "_1.yml")


def _own(model: DbtModelFile, call: ConfigCall) -> dict[str, Value]:
    """The values of a call, those that rendering shows included."""
    return {key: model.config.get(dbt_key(key), value) for key, value in call.values.items()}


def _macros_of_packages(contents: Mapping[str, str]) -> Mapping[str, list[SourceText]]:
    """The macro files of the packages of the new project, by the names of the packages."""
    macros: dict[str, list[SourceText]] = {}
    for path, text in contents.items():
        parts = PurePosixPath(path).parts
        if "macros" in parts[2:] and path.endswith(".sql"):
            macros.setdefault(parts[1], []).append(SourceText(path, text))
    return macros


def _key_todos(model: DbtModelFile, path: str, config: ConfigTranslation) -> list[Todo]:
    """What is left to decide about the config of a model."""
    return [
        Todo("decide", todo.message, model.place_of(dbt_key(todo.key)), todo.hint, in_file(path))
        for todo in config.todos
    ]


def _with_comments(files: Files) -> None:
    """Write each TODO of a file as a comment into its first lines."""
    lines: dict[str, list[str]] = {}
    todos = []
    for todo in files.todos:
        if todo.at is not None and todo.at.path in files.texts:
            path = todo.at.path
            text = " ".join(todo.text.split()).replace("#}", "# }")
            file_comments = lines.setdefault(path, [])
            file_comments.append(f"{{# TODO: {text} #}}" if path.endswith(".sql") else f"# TODO: {text}")
            todos.append(replace(todo, at=Place(path, len(file_comments), 1)))
        else:
            todos.append(replace(todo, at=None))
    files.todos = todos
    for path, comments in lines.items():
        files.texts[path] = "\n".join([*comments, files.texts[path]])


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and not holds_jinja(value)


def _same_line(source: SourceText, text: str, place: Place) -> Place:
    """The place in dbt's file of a place in the text that was made of it: where the same line is, else the first."""
    imported_line = SourceText("", text).line(place.line)
    line = imported_line.strip()
    for number, dbt_line in enumerate(source.text.split("\n"), 1):
        if line and dbt_line.strip() == line:
            moved = len(dbt_line) - len(dbt_line.lstrip()) - (len(imported_line) - len(imported_line.lstrip()))
            return Place(source.path, number, max(1, place.column + moved))
    return Place(source.path, 1, 1)
