"""The settings of a project: the table [tool.merge-runner] of its pyproject.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar, Literal

from merge_runner.errors import Problems
from merge_runner.project.schema.accepts import TEXT, Exactly, also, matching
from merge_runner.project.schema.config import TABLE_KEYS, Names, as_list
from merge_runner.project.schema.config_layers import Layer, config_key, config_layer
from merge_runner.project.schema.dbt_keys import SETTINGS as DBT_SETTINGS
from merge_runner.project.syntax.annotations import CLOSED, After, Before, Key, Keyed
from merge_runner.project.syntax.toml_tree import TomlTree, toml_tree
from merge_runner.project.syntax.validate import validate
from merge_runner.text import SourceText

TABLE = ("tool", "merge-runner")

Severity = Literal["error", "warning", "info"]
Folders = Mapping[tuple[str, ...], Layer]
"""Config defaults by the folders they apply to, as written; () is everything."""


def _inside(value: str) -> str:
    """A path as a folder inside the project, without `./` and a last slash."""
    path = PurePosixPath(value.replace("\\", "/"))
    if not value or path.is_absolute() or ".." in path.parts or re.match(r"[A-Za-z]:", value):
        raise ValueError("a folder inside the project, relative to it")
    return str(path)


_INSIDE = r"^(?![/\\]|[A-Za-z]:)(?!(?:.*[/\\])?\.\.(?:[/\\]|$)).+$"
_InsidePath = Annotated[str, After(_inside), Exactly({**TEXT, "pattern": _INSIDE})]
_InsidePaths = Annotated[tuple[_InsidePath, ...], Before(as_list), also({**TEXT, "pattern": _INSIDE})]


@dataclass(frozen=True)
class LintSettings(Keyed):
    """Which findings count: codes or their beginnings, per path glob, and how much. None: the default selection."""

    select: Names | None = None
    """Codes of rules, names, or beginnings of codes that are reported. Default: `ALL`.
    Example: `select = ["P", "C", "E"]`"""
    ignore: Names = ()
    """Codes of rules, names, or beginnings of codes that are not reported. Example: `ignore = ["C002"]`"""
    per_path_ignores: Annotated[Mapping[str, Names], Key(("per-path-ignores",))] = field(default_factory=dict)
    """Rules that are not reported in some files: by glob patterns of paths relative to the project.
    Example: `per-path-ignores = { "models/staging/**" = ["C003"] }`"""
    severity: Mapping[str, Severity] = field(default_factory=dict)
    """Other severities of rules, by code. Without `--fail-on` only errors fail `lint`; they also stop `build`.
    Example: `severity = { P003 = "error" }`"""
    rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Options of rules, by code or name. [The page of a rule](rules/README.md) lists those that it has.
    Example: `rules = { C002 = { not-null = ["*_id"] } }`"""
    baseline: _InsidePath | None = None
    """The baseline file: findings that were there before and are not reported. `lint --write-baseline` writes it.
    Example: `baseline = "lint-baseline.json"`"""


@dataclass(frozen=True)
class Settings:
    """What [tool.merge-runner] says, with defaults filled in; paths are relative to the project.

    `models` and `seeds` are config defaults by folder. `places` finds the place of a key of the table; None for
    settings that come from no file.
    """

    name: str
    profile: str
    model_paths: tuple[str, ...] = ("models",)
    macro_paths: tuple[str, ...] = ("macros",)
    test_paths: tuple[str, ...] = ("tests",)
    seed_paths: tuple[str, ...] = ("seeds",)
    analysis_paths: tuple[str, ...] = ("analyses",)
    target_path: str = "target"
    vars: Mapping[str, Any] = field(default_factory=dict)
    models: Folders = field(default_factory=dict)
    seeds: Folders = field(default_factory=dict)
    on_run_start: tuple[str, ...] = ()
    on_run_end: tuple[str, ...] = ()
    lint: LintSettings = LintSettings()
    places: TomlTree | None = field(default=None, repr=False, compare=False)

    @property
    def own_paths(self) -> tuple[str, ...]:
        """All folders of the author's files."""
        return _own_paths(self)


def settings(source: SourceText, problems: Problems) -> Settings | None:
    """Reads the settings from the text of a pyproject.toml; None, with problems, where that fails.

    Tables of other tools are ignored.
    """
    whole = toml_tree(source, problems)
    if whole is None:
        return None
    tree = whole.at(*TABLE)
    shape = validate(SettingsTable, tree.data, tree, problems, of="[tool.merge-runner]", elsewhere=DBT_SETTINGS)
    models = _folders(tree, "models", problems)
    seeds = _folders(tree, "seeds", problems)
    if shape is None:
        return None
    for paths in ("model-paths", "macro-paths", "test-paths", "seed-paths", "analysis-paths"):
        _check_apart(getattr(shape, paths.replace("-", "_")), paths, tree, problems)
    _check_target(shape, tree, problems)
    return Settings(
        name=shape.name,
        profile=shape.profile or shape.name,
        model_paths=shape.model_paths,
        macro_paths=shape.macro_paths,
        test_paths=shape.test_paths,
        seed_paths=shape.seed_paths,
        analysis_paths=shape.analysis_paths,
        target_path=shape.target_path,
        vars=shape.vars,
        models=models,
        seeds=seeds,
        on_run_start=shape.on_run_start,
        on_run_end=shape.on_run_end,
        lint=shape.lint,
        places=tree,
    )


SettingsKind = Literal["project", "lint"]


def settings_kind(source: SourceText) -> SettingsKind | None:
    """Return what [tool.merge-runner] of a pyproject.toml configures: a project, or lint of other files.

    A table that holds nothing but `lint` makes no project. None where there is no such table. A text that is not TOML
    is searched for the table's header.
    """
    tree = toml_tree(source, Problems())
    if tree is None:
        if re.search(r"tool\.merge-runner(?!\.lint\b)", source.text):
            return "project"
        return "lint" if "tool.merge-runner.lint" in source.text else None
    tool = tree.data.get("tool")
    if not isinstance(tool, dict) or TABLE[1] not in tool:
        return None
    table = tool[TABLE[1]]
    return "lint" if isinstance(table, dict) and table.keys() == {"lint"} else "project"


def has_settings(source: SourceText) -> bool:
    """Return whether a pyproject.toml is a project's."""
    return settings_kind(source) == "project"


def lint_settings(source: SourceText, problems: Problems) -> tuple[LintSettings, TomlTree] | None:
    """Read [tool.merge-runner.lint] of a pyproject.toml that makes no project; None, with problems, where that fails.

    The tree is that of [tool.merge-runner], as in `Settings.places`.
    """
    whole = toml_tree(source, problems)
    if whole is None:
        return None
    tree = whole.at(*TABLE)
    shape = validate(_LintTable, tree.data, tree, problems, of="[tool.merge-runner]")
    return None if shape is None else (shape.lint, tree)


_NAME = "^[A-Za-z_][A-Za-z0-9_]*$"


def _name(value: str) -> str:
    if not re.fullmatch(_NAME, value):
        raise ValueError("a name of letters, digits and underscores that does not start with a digit")
    return value


@dataclass(frozen=True)
class SettingsTable(Keyed):
    """The table as it is written."""

    name: Annotated[str, After(_name), matching(_NAME)]
    """The name of the project: letters, digits and underscores. It is part of unique ids and of the identity of
    batches.
    Example: `name = "shop"`"""
    profile: str | None = None
    """The profile in profiles.yml. Default: the name of the project. Example: `profile = "shop"`"""
    model_paths: Annotated[_InsidePaths, Key(("model-paths",))] = ("models",)
    """Folders of models: `.sql` files, their property files (`.yml`), and docs blocks (`.md`). Relative to the project,
    as all paths.
    Example: `model-paths = ["models", "marts"]`"""
    macro_paths: Annotated[_InsidePaths, Key(("macro-paths",))] = ("macros",)
    """Folders of Jinja macros (`.sql`) and their property files. Example: `macro-paths = ["macros"]`"""
    test_paths: Annotated[_InsidePaths, Key(("test-paths",))] = ("tests",)
    """Folders of singular data tests (`.sql`), of test macros (`generic/`) and of rows for unit tests (`fixtures/`). A
    folder that contains Python files is not searched.
    Example: `test-paths = ["tests"]`"""
    seed_paths: Annotated[_InsidePaths, Key(("seed-paths",))] = ("seeds",)
    """Folders of seeds (`.csv`) and their property files. Example: `seed-paths = ["seeds"]`"""
    analysis_paths: Annotated[_InsidePaths, Key(("analysis-paths",))] = ("analyses",)
    """Folders of analyses (`.sql`): queries that `compile` renders and `show` runs, and that nothing builds; and their
    property files.
    Example: `analysis-paths = ["analyses"]`"""
    target_path: Annotated[_InsidePath, Key(("target-path",))] = "target"
    """The folder for everything generated: manifest, results, journal, compiled SQL, logs. `merge-runner clean` removes
    it.
    Example: `target-path = "target"`"""
    vars: Mapping[str, Any] = field(default_factory=dict)
    """Variables of the project and their default values, read by `var('name')`; `--vars` overrides them. A variable
    that is declared as a number, boolean or date accepts no other type.
    Example: `vars = { from = 2024-01-01, region = "eu" }`"""
    models: Mapping[str, Any] = field(default_factory=dict)
    """Default config of models. A sub-table applies to the models in that folder (or to the model of that name); keys
    may have dbt's `+`.
    Example: `models = { format = "delta", staging = { materialized = "view" } }`"""
    seeds: Mapping[str, Any] = field(default_factory=dict)
    """Default config of seeds, by folder or name, as `models`. Example: `seeds = { price = { delimiter = ";" } }`"""
    on_run_start: Annotated[Names, Key(("on-run-start",))] = ()
    """SQL statements that run before the first node of `build`, `run`, `seed` and `test`: a text, or a list of them.
    They may use Jinja. Where one fails, no node runs. See [Hooks](../guides/hooks.md#hooks-of-a-run).
    Example: `on-run-start = ["create schema if not exists ops"]`"""
    on_run_end: Annotated[Names, Key(("on-run-end",))] = ()
    """SQL statements that run after the last node, whatever failed; Jinja has their `results`. See
    [Hooks](../guides/hooks.md#hooks-of-a-run).
    Example: `on-run-end = "{{ grant_select(schemas) }}"`"""
    lint: LintSettings = LintSettings()
    """Settings of lint: the keys below. A pyproject.toml whose table `[tool.merge-runner]` has nothing but `lint`
    configures lint of plain SQL files and makes no project.
    Example: `lint = { ignore = ["C002"] }`"""


@dataclass(frozen=True)
class _LintTable:
    """The table of a pyproject.toml that configures lint alone."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    lint: LintSettings


def _check_apart(paths: tuple[str, ...], key: str, tree: TomlTree, problems: Problems) -> None:
    """No path may hold another: their files would count twice."""
    for index, path in enumerate(paths):
        for earlier in paths[:index]:
            if path == earlier or _holds(earlier, path) or _holds(path, earlier):
                message = f'"{path}" and "{earlier}" of "{key}" overlap'
                problems.add("overlapping-paths", message, tree.place((key, index)), "name each folder once")


def _check_target(shape: SettingsTable, tree: TomlTree, problems: Problems) -> None:
    """Check that `target-path`, which is generated and removed by `clean`, holds none of the author's folders."""
    target = shape.target_path
    for path in _own_paths(shape):
        if target == path or _holds(target, path):
            message = f'"target-path" is "{target}", which holds the project\'s own "{path}"'
            problems.add("overlapping-paths", message, tree.place(("target-path",)), "name a separate folder")
            return


def _own_paths(of: Settings | SettingsTable) -> tuple[str, ...]:
    return (*of.model_paths, *of.macro_paths, *of.test_paths, *of.seed_paths, *of.analysis_paths)


def _holds(outer: str, inner: str) -> bool:
    return outer == "." or inner.startswith(f"{outer}/")


def _folders(tree: TomlTree, kind: Literal["models", "seeds"], problems: Problems) -> Folders:
    """The config defaults of a tree in which a table is a folder, unless its key is that of a config mapping."""
    layers: dict[tuple[str, ...], Layer] = {}

    def collect(folder: tuple[str, ...], table: Mapping[str, Any]) -> None:
        config: dict[str, Any] = {}
        for key, value in table.items():
            if key.startswith("+") or not isinstance(value, Mapping) or config_key(key) in TABLE_KEYS:
                config[key] = value
            else:
                collect((*folder, key), value)
        layers[folder] = config_layer(config, tree, problems, at=(kind, *folder), of=kind, seed=kind == "seeds")

    table = tree.data.get(kind) if isinstance(tree.data, Mapping) else None
    if isinstance(table, Mapping):
        collect((), table)
    return layers
