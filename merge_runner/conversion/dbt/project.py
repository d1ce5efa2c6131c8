"""The files of a dbt project: its settings, models and snapshots with their config, properties and all the rest."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from merge_runner.conversion.dbt.config_call import ConfigCall, Value, config_calls
from merge_runner.conversion.dbt.config_keys import DATABRICKS_KEYS, MAPPINGS, dbt_key
from merge_runner.conversion.dbt.connection import Connection, profile_connection
from merge_runner.conversion.dbt.known_values import LATE, ModelRendering, Rendering, with_rendered
from merge_runner.conversion.dbt.todo import LeftOutError
from merge_runner.conversion.dbt.yaml_file import read_tree
from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.lint.dbt.project import MANIFEST, DbtProject, read_dbt_project
from merge_runner.project.load.not_read import DBT_PROJECT
from merge_runner.project.schema.config import TABLE_KEYS
from merge_runner.project.syntax.environment import TemplateEnv, whole_env
from merge_runner.project.syntax.places import KeyPath
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project.syntax.yaml_tree import YamlTree
from merge_runner.project_file import Boundary, RefusedFileError, read_file
from merge_runner.text import Place, SourceText, Span

_SNAPSHOT = re.compile(r"\{%-?\s*snapshot\s+(\w+)\s*-?%\}")
_END_OF_SNAPSHOT = re.compile(r"\{%-?\s*endsnapshot\s*-?%\}")
_PATHS = {
    "model-paths": ("models",),
    "macro-paths": ("macros",),
    "seed-paths": ("seeds",),
    "test-paths": ("tests",),
    "snapshot-paths": ("snapshots",),
    "analysis-paths": ("analyses",),
}
_PROFILES = "profiles.yml"


@dataclass(frozen=True)
class DbtModelFile:
    """A model or a snapshot: the file `source`, of which `body` is its own template, and its config of all layers.

    `places` has where each key of `config` is written, `folder` are the folders between the model path and the file.
    """

    name: str
    is_snapshot: bool
    source: SourceText
    body: Span
    folder: tuple[str, ...]
    calls: tuple[ConfigCall, ...]
    config: Mapping[str, Value]
    places: Mapping[str, Place]
    defined_at: Place | None = None
    """Where YAML defines it; None: its file does."""

    @property
    def materialized(self) -> Value:
        """How dbt builds it."""
        return self.config.get("materialized", Value.of("view"))

    @property
    def place(self) -> Place:
        """Where it begins."""
        return self.defined_at or self.source.place(self.body.start)

    def place_of(self, *keys: str) -> Place:
        """Return where the first of some config keys is written, else where the model begins."""
        return next((self.places[key] for key in keys if key in self.places), self.place)

    def setting(self, key: str) -> Any:
        """Return the value of a config key, None where it is not set.

        Raises LeftOutError where only rendering shows the value.
        """
        setting = self.config.get(key)
        if setting is not None and not setting.is_known:
            reason = f"{key} of {self.name} is known only when dbt renders it: {setting.expression}"
            raise LeftOutError(reason, "run `dbt parse` before: the manifest has its value", self.place_of(key))
        return setting.value if setting is not None else None

    def setting_texts(self, key: str) -> list[str]:
        """Return the texts of a config key that is one text, or a list of them. Raises LeftOutError for others."""
        value = self.setting(key)
        if value is None:
            return []
        texts = [value] if isinstance(value, str) else value
        if isinstance(texts, list | tuple) and all(isinstance(text, str) for text in texts):
            return list(texts)
        raise LeftOutError(f"{key} of {self.name} is no text, and no list of them", None, self.place_of(key))


EventTimes = Mapping[tuple[str, ...], str]
"""The `event_time` of what a project reads, by the name of a model or seed, or by those of a source and its table."""


@dataclass
class DbtFolder:
    """A dbt project as its files are. Paths are relative to `root`."""

    root: Path
    settings: YamlTree
    name: str
    paths: Mapping[str, tuple[str, ...]]
    connection: Connection
    manifest: DbtProject | None
    rendering: Rendering
    models: list[DbtModelFile] = field(default_factory=list)
    python: list[SourceText] = field(default_factory=list)
    properties: list[YamlTree] = field(default_factory=list)
    copied: dict[str, Path] = field(default_factory=dict)
    """Files that are taken as they are: macros, seeds, tests, docs blocks."""

    @cached_property
    def boundary(self) -> Boundary:
        """Where its files may be."""
        return Boundary(self.root)

    @property
    def event_times(self) -> EventTimes:
        """Return the `event_time` of models, seeds and sources that declare one."""
        times: dict[tuple[str, ...], Any] = {
            (model.name,): model.config["event_time"].value for model in self.models if "event_time" in model.config
        }
        for tree in self.properties:
            for seed in _named(_mapping(tree.data).get("seeds")):
                times[seed["name"],] = _mapping(seed.get("config")).get("event_time")
            for source in _named(_mapping(tree.data).get("sources")):
                common = _mapping(source.get("config")).get("event_time")
                for table in _named(source.get("tables")):
                    times[source["name"], table["name"]] = _mapping(table.get("config")).get("event_time") or common
        return {names: time for names, time in times.items() if isinstance(time, str)}

    @property
    def data(self) -> Mapping[str, Any]:
        """The content of dbt_project.yml."""
        return _mapping(self.settings.data)


def read_dbt_folder(root: Path, env: Mapping[str, str], home: Path | None, adapter: str | None = None) -> DbtFolder:
    """Read a dbt project. `home` is the folder with the user's `.dbt`, None: it is not looked at.

    `adapter` is dbt's where the caller knows it better than manifest and profile.

    Raises ProblemsError where it is none, or where dbt_project.yml or a property file is no YAML.
    """
    problems = Problems()
    file = root / DBT_PROJECT
    if not file.is_file():
        hint = f"name the folder of a {DBT_PROJECT}: `merge-runner import dbt DIR --to NEW`"
        raise ProblemsError([Problem("no-dbt-project", f"{root} is no dbt project", None, hint)])
    settings = read_tree(file, DBT_PROJECT, problems, Boundary(root))
    problems.check()
    assert settings is not None
    data = _mapping(settings.data)
    name = data.get("name")
    if not isinstance(name, str):
        raise ProblemsError([Problem("no-dbt-project", "dbt_project.yml has no name", Place(DBT_PROJECT, 1, 1))])
    paths = {key: _texts(data.get(key), usual) for key, usual in _PATHS.items()}
    paths["docs-paths"] = _texts(data.get("docs-paths"), ())
    manifest = _manifest(root, data, env)
    root = Path(os.path.abspath(root))  # noqa: PTH100 -- links stay
    template_env = TemplateEnv(whole_env(env), secrets=False)
    connection = profile_connection(root, data, manifest, template_env, home, adapter)
    vars = project_vars(data, name)
    folder = DbtFolder(
        root, settings, name, paths, connection, manifest, Rendering(vars, connection.values, template_env)
    )
    _read_files(folder, problems)
    problems.check()
    return folder


def _read_files(project: DbtFolder, problems: Problems) -> None:
    texts: list[tuple[SourceText, tuple[str, ...], bool]] = []
    for key, path, folder, file in _files(project, problems):
        if key == "docs-paths":
            if file.suffix == ".md":
                project.copied[path] = file
        elif file.suffix in (".yml", ".yaml"):
            if (tree := read_tree(file, path, problems, project.boundary)) is not None:
                project.properties.append(tree)
        elif key in ("model-paths", "snapshot-paths") and file.suffix != ".md":
            is_read = file.suffix in (".sql", ".py")
            source = read_text(file, path, problems, project.boundary) if is_read else None
            if source is not None and file.suffix == ".py":
                project.python.append(source)
            elif source is not None:
                texts.append((source, folder, key == "snapshot-paths"))
        else:
            project.copied[path] = file
    if project.connection.adapter is None and (place := _of_databricks(project, [source for source, *_ in texts])):
        project.connection = replace(project.connection, adapter="databricks", assumed_at=place)
        project.rendering = replace(project.rendering, target=project.connection.values)
    described = _index_entries(project.properties)
    for source, folder, is_snapshot in texts:
        project.models += _models(project, described, source, folder, is_snapshot=is_snapshot)
    project.models += _yaml_snapshots(project, described)


def _of_databricks(project: DbtFolder, sources: Sequence[SourceText]) -> Place | None:
    """Return where a project has what dbt-databricks alone reads; None where it has nothing of that."""
    for source in sources:
        for call in config_calls(source.text):
            for key, value in call.values.items():
                if dbt_key(key) in DATABRICKS_KEYS or value.value == "replace_where":
                    return source.place(call.spans[key].start)
    for tree in (*project.properties, project.settings):
        for path in _paths(tree.data or {}):
            key = dbt_key(str(path[-1]))
            if key in DATABRICKS_KEYS or (path[0] == "sources" and path[2:] == ("catalog",)):
                return tree.key_place(path)
    return None


def _paths(value: Any, at: KeyPath = ()) -> Iterator[KeyPath]:
    """Yield the paths of all keys of mappings in a value."""
    for key, inner in value.items() if isinstance(value, Mapping) else enumerate(value):
        if isinstance(value, Mapping):
            yield (*at, key)
        if isinstance(inner, Mapping | list):
            yield from _paths(inner, (*at, key))


def _models(
    project: DbtFolder,
    described: Mapping[tuple[str, str], tuple[YamlTree, int]],
    source: SourceText,
    folder: tuple[str, ...],
    *,
    is_snapshot: bool,
) -> Iterator[DbtModelFile]:
    snapshots = list(blocks(source.text, _SNAPSHOT, _END_OF_SNAPSHOT))
    if not snapshots and not is_snapshot:
        yield _model(project, described, Path(source.path).stem, source, Span(0, len(source.text)), folder)
    for begin, end in snapshots:
        body = Span(begin.end(), end.start())
        yield _model(project, described, begin[1], source, body, folder, is_snapshot=True)


def blocks(
    text: str, opening: re.Pattern[str], closing: re.Pattern[str]
) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Yield the tags around each block of a text; where one has no end, none after it has."""
    at = 0
    while (begin := opening.search(text, at)) is not None and (end := closing.search(text, begin.end())) is not None:
        yield begin, end
        at = end.end()


def _model(
    project: DbtFolder,
    described: Mapping[tuple[str, str], tuple[YamlTree, int]],
    name: str,
    source: SourceText,
    body: Span,
    folder: tuple[str, ...],
    *,
    is_snapshot: bool = False,
) -> DbtModelFile:
    kind = "snapshots" if is_snapshot else "models"
    config, places = _layer_config(project, kind, name, folder, described.get((kind, name)))
    calls = config_calls(body.of(source.text))
    for call in calls:
        for key, value in call.values.items():
            span = call.spans[key]
            config[dbt_key(key)] = value
            places[dbt_key(key)] = source.place(body.start + span.start, body.start + span.end)
    return DbtModelFile(name, is_snapshot, source, body, folder, calls, config, places)


def _layer_config(
    project: DbtFolder, kind: str, name: str, folder: tuple[str, ...], described: tuple[YamlTree, int] | None
) -> tuple[dict[str, Value], dict[str, Place]]:
    """The config that dbt_project.yml and a property file give a node, with the place of each key."""
    config: dict[str, Value] = {}
    places: dict[str, Place] = {}

    def add(key: str, value: Any, tree: YamlTree, path: KeyPath) -> None:
        is_late = dbt_key(key) in LATE
        config[dbt_key(key)] = Value.of(value) if is_late else project.rendering.of_yaml(value, tree, path)
        places[dbt_key(key)] = tree.key_place(path)

    at: tuple[str, ...] = (kind,)
    tree: Any = project.data.get(kind)
    for step in ("", project.name, *folder, name):
        if step:
            tree, at = _mapping(tree).get(step), (*at, step)
        for key, value in _mapping(tree).items():
            if not is_folder(key, value):
                add(key, value, project.settings, (*at, key))
    if described is not None:
        yaml, index = described
        for key, value in _mapping(_mapping(yaml.data[kind][index]).get("config")).items():
            add(key, value, yaml, (kind, index, "config", key))
    return config, places


def is_folder(key: Any, value: Any) -> bool:
    """Whether a key of `models:` in dbt_project.yml is a folder, a package or a model, and no config key."""
    if not isinstance(value, Mapping) or str(key).startswith("+"):
        return False
    return dbt_key(str(key)) not in TABLE_KEYS | MAPPINGS


def rendered_config(project: DbtFolder, model: DbtModelFile, models: ModelRendering) -> DbtModelFile:
    """Return a model with the values of the manifest, else those that rendering shows, in place of expressions."""
    if all(value.is_known or key in LATE for key, value in model.config.items()):
        return model
    nodes = project.manifest.by_id.values() if project.manifest is not None else ()
    node = next((node for node in nodes if node.name == model.name and node.package == project.name), None)
    config = with_rendered(model.config, node.config if node is not None else {})
    if not all(value.is_known or key in LATE for key, value in config.items()):
        source = SourceText(model.source.path, model.body.of(model.source.text))
        config = with_rendered(config, models.config(model.name, source, model.folder))
    return replace(model, config=config)


def project_vars(data: Mapping[str, Any], project: str) -> Mapping[str, Any]:
    """Return the vars of dbt_project.yml: those of all, and those of the project itself."""
    vars_ = _mapping(data.get("vars"))
    own = _mapping(vars_.get(project))
    return {**{key: value for key, value in vars_.items() if key != project}, **own}


def _yaml_snapshots(
    project: DbtFolder, described: Mapping[tuple[str, str], tuple[YamlTree, int]]
) -> Iterator[DbtModelFile]:
    """The snapshots that YAML defines: `relation` is what they read."""
    for (kind, name), (tree, index) in described.items():
        relation = _mapping(tree.data[kind][index]).get("relation") if kind == "snapshots" else None
        if isinstance(relation, str):
            config, places = _layer_config(project, kind, name, (), (tree, index))
            text = f"select * from {{{{ {relation} }}}}\n"
            place = tree.key_place((kind, index, "relation"))
            source = SourceText(place.path, text)
            yield DbtModelFile(name, True, source, Span(0, len(text)), (), (), config, places, place)


def _files(project: DbtFolder, problems: Problems) -> Iterator[tuple[str, str, tuple[str, ...], Path]]:
    """Yield each file with the key that names its folder, its path, and the folders below that one."""
    for key, paths in project.paths.items():
        for start in paths:
            top = Path(os.path.abspath(project.root / start))  # noqa: PTH100 -- links stay
            if not top.is_relative_to(project.root) or not project.boundary.holds(top):
                problems.add("outside", f"{key}: {start} leads out of the project", Place(DBT_PROJECT, 1, 1))
                continue
            for file in sorted(top.rglob("*")):
                path = file.relative_to(project.root).as_posix()
                if not file.is_file() or any(part.startswith(".") for part in Path(path).parts):
                    continue
                yield key, path, file.relative_to(top).parent.parts, file


def copied_file(project: DbtFolder, path: str) -> bytes:
    """Return the content of a file that is taken as it is. Raises ProblemsError."""
    try:
        return read_file(project.root / path, project.boundary)
    except RefusedFileError as error:
        raise ProblemsError([Problem(error.code, error.message, Place(path, 1, 1), error.hint)]) from None


def _index_entries(trees: Sequence[YamlTree]) -> Mapping[tuple[str, str], tuple[YamlTree, int]]:
    """The entries of property files by kind and name."""
    entries_by_name: dict[tuple[str, str], tuple[YamlTree, int]] = {}
    for tree in trees:
        for kind in ("models", "snapshots"):
            entries = _mapping(tree.data).get(kind)
            for index, entry in enumerate(entries if isinstance(entries, list) else ()):
                if isinstance(entry, Mapping) and isinstance(entry.get("name"), str):
                    entries_by_name.setdefault((kind, entry["name"]), (tree, index))
    return entries_by_name


def _manifest(root: Path, data: Mapping[str, Any], env: Mapping[str, str]) -> DbtProject | None:
    target = root / (env.get("DBT_TARGET_PATH") or str(data.get("target-path") or "target"))
    if not (target / MANIFEST).is_file():
        return None
    return read_dbt_project(target, Problems())


def _named(entries: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the entries of a list that have a name."""
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping) and isinstance(entry.get("name"), str):
            yield entry


def _texts(value: Any, usual: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else usual


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
