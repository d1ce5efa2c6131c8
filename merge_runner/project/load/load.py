"""Loads a project: everything that its files say, or everything that is wrong with them in one report."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from merge_runner.errors import Problems
from merge_runner.project.load.docs_blocks import docs_blocks
from merge_runner.project.load.files import AnalysisFile, ModelFile, ProjectFiles, SeedFile
from merge_runner.project.load.find_project import PYPROJECT, read_settings
from merge_runner.project.load.not_read import files_not_read, has_key_not_read, keys_not_read
from merge_runner.project.load.packages import read_packages
from merge_runner.project.load.project_paths import ProjectFile, ProjectPaths, project_paths
from merge_runner.project.load.read_properties import read_properties
from merge_runner.project.load.render_properties import render_properties
from merge_runner.project.load.resolved_properties import Description, ResolvedProperties
from merge_runner.project.load.target_folder import target_path_of
from merge_runner.project.load.yaml_cache import YamlCache
from merge_runner.project.schema.config_layers import Layer
from merge_runner.project.schema.declared_vars import typed_vars
from merge_runner.project.schema.folder_config import FolderConfig
from merge_runner.project.schema.profile import FILE as PROFILES
from merge_runner.project.schema.profile import Profile, read_profile
from merge_runner.project.schema.properties import PropertyFile, Source, SourceTable
from merge_runner.project.schema.selectors import FILE as SELECTORS
from merge_runner.project.schema.selectors import Selector, selectors
from merge_runner.project.schema.settings import Settings
from merge_runner.project.schema.stream import Stream, connectors
from merge_runner.project.syntax.environment import EnvVar, whole_env
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project.syntax.secret_names import secret_values, secrets_in_url
from merge_runner.project.syntax.value_template import TemplateNames, ValueTemplate
from merge_runner.project.syntax.yaml_tree import YamlTree, yaml_tree
from merge_runner.project_file import Boundary
from merge_runner.store import Store, most_of
from merge_runner.text import Place, SourceText


def read(
    root: Path,
    problems: Problems,
    *,
    env: Mapping[str, str],
    profile: str | None = None,
    target: str | None = None,
    profiles_dir: Path | None = None,
    vars: Mapping[str, Any] | None = None,
    target_path: str | None = None,
    texts: Mapping[str, str] | None = None,
    keep: bool = False,
) -> ProjectFiles:
    """Read the project in the folder `root`, as much of it as can be read; add what is wrong to `problems`.

    `texts`, by path in the project, are read instead of the files there, as an editor has them. With `keep` the YAML
    that earlier runs have read is not read again while its text is the same. The other arguments override what the
    files say. A caller can go on with the result and look for what else is wrong.
    A model that cannot be read has an empty text, other files that cannot be read are left out, and a profile that is
    wrong has no more than its name. Raises ProblemsError where the settings are wrong: nothing else can be found then.
    """
    texts = texts or {}
    own_settings = read_settings(root, problems, texts.get(PYPROJECT))
    own_settings = replace(own_settings, target_path=target_path_of(root, own_settings, target_path))
    name_place = None
    if own_settings.places and profile is None:
        name_place = own_settings.places.place(("profile" if "profile" in own_settings.places.data else "name",))
    name = profile or own_settings.profile
    profile_read = read_profile(
        root,
        name,
        problems,
        env=env,
        target=target,
        profiles_dir=profiles_dir,
        name_place=name_place,
        text=texts.get(PROFILES),
    )
    profile_or_empty = profile_read or Profile(name, target or "", schema=name)
    values = typed_vars(own_settings.vars, vars or {}, own_settings.places, problems)
    store = Store.of_project(root, whole_env(env)) if keep else None
    loader = _Loader(root, own_settings, problems, profile_or_empty, values, env, texts, store)
    loader.read()
    files = loader.files()
    if store is not None:
        store.write(most_of(len(files.models)))
    undeclared = [str(name) for name in vars or {} if name not in own_settings.vars]
    return replace(files, unnamed_vars=frozenset(name for name in undeclared if not loader.names(name)))


def parse_vars(text: str) -> dict[str, Any]:
    """The vars of a YAML mapping as `--vars` takes it. Raises ProblemsError where it is none."""
    return _mapping(text, "--vars", "invalid-vars", "from: 2013-01-01")


def parse_arguments(text: str) -> dict[str, Any]:
    """Return the arguments of a macro of a YAML mapping as `--args` takes it. Raises ProblemsError where it is none."""
    return _mapping(text, "--args", "invalid-args", "{schema: scratch, days: 7}")


def _mapping(text: str, option: str, code: str, example: str) -> dict[str, Any]:
    problems = Problems()
    tree = yaml_tree(SourceText(option, text), problems)
    problems.check()
    data = tree.data if tree else None
    if data is not None and not (isinstance(data, dict) and all(isinstance(key, str) for key in data)):
        problems.add(code, f"{option} must be a mapping", None, f"write it as {option} '{example}'")
        problems.check()
    return data or {}


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class _Loader:
    """Reads the files of a project; problems are collected until all are read."""

    def __init__(
        self,
        root: Path,
        settings: Settings,
        problems: Problems,
        profile: Profile,
        vars: Mapping[str, Any],
        env: Mapping[str, str],
        unsaved: Mapping[str, str],
        store: Store | None,
    ) -> None:
        self._unsaved = unsaved
        self._trees = YamlCache(store, problems)
        self._profile = profile
        self._vars = vars
        self._env = env
        self._secrets: set[str] = set()
        self._env_vars: list[EnvVar] = []
        self._root = root
        self._base = os.fspath(root)
        self._boundary = Boundary(root)
        self._settings = settings
        self._problems = problems
        self._paths = ProjectPaths()
        self._texts: dict[str, SourceText] = {}
        self._yaml: list[SourceText] = []
        self._trees_with_unread_keys: list[YamlTree] = []
        """Property files with keys that are left out."""
        self._seeds: list[ProjectFile] = []

    def read(self) -> None:
        """Reads and checks everything."""
        paths = self._paths = project_paths(self._base, self._settings, self._problems)
        self._check_names([*(("model", file) for file in paths.models), *(("seed", file) for file in paths.seeds)])
        self._check_names(("singular test", file) for file in paths.singular_tests)
        self._check_names(("fixture", file) for file in paths.fixtures)
        self._check_names(("analysis", file) for file in paths.analyses)
        for file in (*paths.models, *paths.macros, *paths.singular_tests, *paths.fixtures, *paths.analyses):
            self._text(file.path)
        for file in paths.seeds:
            # The engine reads them; that it can is known before anything runs.
            if self._read_text(file.path) is not None:
                self._seeds.append(file)
        self._packages = read_packages(self._root, self._problems)
        markdown = (self._read_text(path) for path in paths.docs)
        self._docs = docs_blocks((text for text in markdown if text is not None), self._problems)
        self._properties = self._read_properties()
        self._selectors = self._read_selectors()
        self._model_config = FolderConfig(
            self._settings, "models", [*paths.model_folders, *map(_full, paths.models)], self._problems
        )
        self._seed_config = FolderConfig(
            self._settings, "seeds", [*paths.seed_folders, *map(_full, paths.seeds)], self._problems
        )

    def files(self) -> ProjectFiles:
        """Everything that could be read."""
        paths, described, texts = self._paths, self._properties, self._texts
        return ProjectFiles(
            root=self._root,
            settings=self._settings,
            profile=replace(
                self._profile,
                secrets=self._profile.secrets | self._secrets,
                connectors=connectors(entry.table.stream for entry in described.sources.values()),
            ),
            models={file.stem: self._model(file) for file in paths.models},
            seeds={file.stem: self._seed(file) for file in self._seeds},
            sources=described.sources,
            macros=tuple(texts[file.path] for file in paths.macros if file.path in texts),
            singular_tests=tuple(texts[file.path] for file in paths.singular_tests if file.path in texts),
            data_tests={on: tuple(entries) for on, entries in described.data_tests.items()},
            unit_tests=tuple(described.unit_tests.values()),
            exposures=tuple(described.exposures.values()),
            vars=self._vars,
            selectors=self._selectors,
            fixtures={file.stem: texts[file.path] for file in paths.fixtures if file.path in texts},
            packages=self._packages,
            analyses=tuple(self._analysis(file) for file in paths.analyses if file.path in texts),
            groups=described.groups,
            macro_properties=described.macros,
            warnings=described.warnings,
            not_read=self._not_read,
            env_vars=(*self._profile.env_vars, *self._env_vars),
            unsaved=self._unsaved,
        )

    def names(self, word: str) -> bool:
        """Whether a text of the project has the word in quotes, in a branch that no run takes too."""
        in_quotes = re.compile(rf"""["']{re.escape(word)}\\?["']""")
        settings = self._settings.places
        texts = [*self._texts.values(), *self._yaml, *([settings.source] if settings is not None else [])]
        return any(in_quotes.search(text.text) for text in texts)

    def _model(self, file: ProjectFile) -> ModelFile:
        description = self._properties.models.get(file.stem)
        layers = self._model_config.layers(_full(file))
        return ModelFile(
            name=file.stem,
            source=self._texts.get(file.path) or SourceText(file.path, ""),
            folder=file.folder,
            layers=(*layers, *_layers(description)),
            own_layers=_layers(description),
            properties=description.properties if description else None,
            properties_place=description.place if description else None,
            column_places=description.column_places if description else {},
        )

    def _seed(self, file: ProjectFile) -> SeedFile:
        description = self._properties.seeds.get(file.stem)
        layers = self._seed_config.layers(_full(file))
        return SeedFile(
            name=file.stem,
            path=self._root / file.path,
            place=Place(file.path, 1, 1),
            folder=file.folder,
            layers=(*layers, *_layers(description)),
            properties=description.properties if description else None,
            properties_place=description.place if description else None,
        )

    def _analysis(self, file: ProjectFile) -> AnalysisFile:
        properties, place = self._properties.analyses.get(file.stem, (None, None))
        return AnalysisFile(file.stem, self._texts[file.path], file.folder, properties, place)

    def _read_properties(self) -> ResolvedProperties:
        paths = self._paths
        described = ResolvedProperties(
            {
                "model": frozenset(file.stem for file in paths.models),
                "seed": frozenset(file.stem for file in paths.seeds),
                "analysis": frozenset(file.stem for file in paths.analyses),
            },
            frozenset(file.stem for file in paths.fixtures),
            self._problems,
        )

        self._add_files(described, paths.property_files)
        self._not_read = (
            *files_not_read(self._base, self._settings, paths.python),
            *keys_not_read(self._trees_with_unread_keys),
        )
        return described

    def _add_files(self, described: ResolvedProperties, paths: Iterable[str]) -> None:
        """Read property files."""
        for path in paths:
            written_tree = self._tree(path)  # one at a time: it takes ten times the memory of what is read of it
            if written_tree is None:
                continue
            if has_key_not_read(written_tree):
                self._trees_with_unread_keys.append(written_tree)
            template = ValueTemplate(written_tree, self._template_names, self._env, self._problems)
            tree = render_properties(written_tree, template)
            self._secrets.update(secret_values(template.used))
            self._env_vars.extend(template.calls())
            properties = read_properties(tree, self._problems)
            if properties:
                self._secrets.update(_secrets_of_sources(properties))
                described.add(properties, tree)

    @property
    def _template_names(self) -> TemplateNames:
        hint = "env_var, var and target work in a property file, and doc in a description"
        return TemplateNames("a property file", hint, self._vars, self._profile.target_values, self._docs)

    def _read_selectors(self) -> dict[str, Selector]:
        if not os.path.lexists(os.path.join(self._base, SELECTORS)):  # noqa: PTH118
            return {}
        tree = self._tree(SELECTORS)
        return selectors(tree, self._problems) if tree else {}

    def _read_text(self, path: str) -> SourceText | None:
        if path in self._unsaved:
            return SourceText(path, self._unsaved[path])
        return read_text(f"{self._base}/{path}", path, self._problems, self._boundary)

    def _text(self, path: str) -> SourceText | None:
        text = self._read_text(path)
        if text is not None:
            self._texts[path] = text
        return text

    def _tree(self, path: str) -> YamlTree | None:
        text = self._read_text(path)
        if text is None:
            return None
        self._yaml.append(text)
        return self._trees.tree(text)

    def _check_names(self, files: Iterable[tuple[str, ProjectFile]]) -> None:
        """Check that names are identifiers and unique: Spark's table names are case-insensitive."""
        first: dict[str, tuple[str, ProjectFile]] = {}
        for kind, file in files:
            place = Place(file.path, 1, 1)
            if not _NAME.match(file.stem):
                message = f'"{file.stem}" is no name for a {kind}: letters, digits and underscores, no digit first'
                hint = f"rename the file, for example to {_as_name(file)}"
                self._problems.add("invalid-name", message, place, hint)
            folded = file.stem.casefold()
            if folded in first:
                other_kind, other_file = first[folded]
                message = f'the {kind} "{file.stem}" has the name of the {other_kind} in {other_file.path}'
                self._problems.add("duplicate-name", message, place, "rename one of the two files")
            first.setdefault(folded, (kind, file))


def _full(file: ProjectFile) -> tuple[str, ...]:
    return (*file.folder, file.stem)


def _secrets_of_sources(properties: PropertyFile) -> Iterator[str]:
    """Yield the secrets in options and addresses of sources."""
    tables = [table for source in properties.sources for table in source.tables]
    streams = [table.stream for table in tables if table.stream is not None]
    described: tuple[Source | SourceTable | Stream, ...] = (*properties.sources, *tables, *streams)
    for described_entry in described:
        yield from secret_values(described_entry.options)
        yield from secrets_in_url(described_entry.path or "")


def _layers(description: Description | None) -> tuple[Layer, ...]:
    return description.layers if description else ()


def _as_name(file: ProjectFile) -> str:
    name = re.sub(r"[^A-Za-z0-9_]+", "_", file.stem)
    suffix = file.path[file.path.rindex(".") :]
    return ("_" if name[:1].isdigit() else "") + name + suffix
