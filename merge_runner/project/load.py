"""Loads a project: everything that its files say, or everything that is wrong with them at once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.project.config import Layer
from merge_runner.project.described import Described, Description
from merge_runner.project.files import ModelFile, ProjectFiles, SeedFile
from merge_runner.project.folder_config import FolderConfig
from merge_runner.project.profile import Profile, read_profile
from merge_runner.project.project_paths import Found, ProjectPaths, project_paths
from merge_runner.project.read_properties import read_properties
from merge_runner.project.read_text import read_text
from merge_runner.project.selectors import FILE as SELECTORS
from merge_runner.project.selectors import selectors
from merge_runner.project.settings import Settings, has_settings, settings
from merge_runner.project.yaml_tree import YamlTree, yaml_tree
from merge_runner.text import Place, SourceText

PYPROJECT = "pyproject.toml"


def load(
    root: Path,
    *,
    env: Mapping[str, str],
    profile: str | None = None,
    target: str | None = None,
    profiles_dir: Path | None = None,
    vars: Mapping[str, Any] | None = None,
    target_path: str | None = None,
) -> ProjectFiles:
    """Loads the project in the folder `root`; the other arguments stand above what its files say.

    Raises ProblemsError with every problem of every file.
    """
    problems = Problems()
    said = read_settings(root, problems)
    if target_path is not None:
        said = replace(said, target_path=target_path)
    named_at = None
    if said.places and profile is None:
        named_at = said.places.place(("profile" if "profile" in said.places.data else "name",))
    chosen = read_profile(
        root, profile or said.profile, problems, env=env, target=target, profiles_dir=profiles_dir, named_at=named_at
    )
    loader = _Loader(root, said, problems)
    loader.read()
    problems.check()
    if chosen is None:
        raise AssertionError("a profile that cannot be read is a problem")
    return loader.files(chosen, {**said.vars, **(vars or {})})


def find_root(start: Path) -> Path:
    """The folder of the project that holds `start`: the nearest one whose pyproject.toml has [tool.merge-runner].

    Raises ProblemsError where there is none.
    """
    start = start.absolute()
    for folder in (start, *start.parents):
        file = folder / PYPROJECT
        if file.is_file():
            source = read_text(file, PYPROJECT, Problems())
            if source is not None and has_settings(source):
                return folder
    raise _no_project(f"neither {start} nor a folder above it is a merge-runner project")


def parse_vars(text: str) -> dict[str, Any]:
    """The vars of a YAML mapping as `--vars` takes it. Raises ProblemsError where it is none."""
    problems = Problems()
    tree = yaml_tree(SourceText("--vars", text), problems)
    problems.check()
    data = tree.data if tree else None
    if data is not None and not isinstance(data, dict):
        problems.add("invalid-vars", "--vars must be a mapping", None, "write it as --vars 'from: 2013-01-01'")
        problems.check()
    return data or {}


def read_settings(root: Path, problems: Problems) -> Settings:
    """The settings of `root`; without them nothing else can be found, so their problems are raised alone."""
    source = read_text(root / PYPROJECT, PYPROJECT, problems) if (root / PYPROJECT).is_file() else None
    problems.check()
    if source is None or not has_settings(source):
        raise _no_project(f"{root} is not a merge-runner project")
    found = settings(source, problems)
    if found is None:
        raise ProblemsError(problems)
    return found


def _no_project(message: str) -> ProblemsError:
    hint = "run `merge-runner init NAME` for a new project, or say where it is with --project-dir"
    return ProblemsError([Problem("no-project", message, None, hint)])


_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class _Loader:
    """Reads the files of a project; problems are collected until all are read."""

    def __init__(self, root: Path, said: Settings, problems: Problems) -> None:
        self._root = root
        self._base = os.fspath(root)
        self._settings = said
        self._problems = problems
        self._paths = ProjectPaths()
        self._texts: dict[str, SourceText] = {}

    def read(self) -> None:
        """Reads and checks everything; the problems say whether `files` may be asked for."""
        paths = self._paths = project_paths(self._base, self._settings, self._problems)
        self._check_names([*(("model", file) for file in paths.models), *(("seed", file) for file in paths.seeds)])
        self._check_names(("singular test", file) for file in paths.singular_tests)
        self._check_names(("fixture", file) for file in paths.fixtures)
        for file in (*paths.models, *paths.macros, *paths.singular_tests, *paths.fixtures):
            self._text(file.path)
        self._described = self._read_properties()
        self._selectors = self._read_selectors()
        self._model_config = FolderConfig(
            self._settings, "models", [*paths.model_folders, *map(_full, paths.models)], self._problems
        )
        self._seed_config = FolderConfig(
            self._settings, "seeds", [*paths.seed_folders, *map(_full, paths.seeds)], self._problems
        )

    def files(self, profile: Profile, vars: Mapping[str, Any]) -> ProjectFiles:
        """Everything that was read."""
        paths, described, texts = self._paths, self._described, self._texts
        return ProjectFiles(
            root=self._root,
            settings=self._settings,
            profile=profile,
            models={file.stem: self._model(file) for file in paths.models},
            seeds={file.stem: self._seed(file) for file in paths.seeds},
            sources=described.sources,
            macros=tuple(texts[file.path] for file in paths.macros),
            singular_tests=tuple(texts[file.path] for file in paths.singular_tests),
            data_tests=tuple(described.data_tests),
            unit_tests=tuple(described.unit_tests.values()),
            vars=vars,
            selectors=self._selectors,
            fixtures={file.stem: texts[file.path] for file in paths.fixtures},
            macro_properties=described.macros,
        )

    def _model(self, file: Found) -> ModelFile:
        description = self._described.models.get(file.stem)
        layers = self._model_config.layers(_full(file))
        return ModelFile(
            name=file.stem,
            source=self._texts[file.path],
            folder=file.folder,
            layers=(*layers, *_layers(description)),
            properties=description.properties if description else None,
            properties_place=description.place if description else None,
        )

    def _seed(self, file: Found) -> SeedFile:
        description = self._described.seeds.get(file.stem)
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

    def _read_properties(self) -> Described:
        paths = self._paths
        described = Described(
            {"model": frozenset(file.stem for file in paths.models), "seed": frozenset(f.stem for f in paths.seeds)},
            frozenset(file.stem for file in paths.fixtures),
            self._problems,
        )
        for path in paths.property_files:
            tree = self._tree(path)
            properties = read_properties(tree, self._problems) if tree else None
            if tree and properties:
                described.add(properties, tree)
        return described

    def _read_selectors(self) -> dict[str, str]:
        if not os.path.lexists(os.path.join(self._base, SELECTORS)):  # noqa: PTH118
            return {}
        tree = self._tree(SELECTORS)
        return selectors(tree, self._problems) if tree else {}

    def _text(self, path: str) -> SourceText | None:
        text = read_text(f"{self._base}/{path}", path, self._problems)
        if text is not None:
            self._texts[path] = text
        return text

    def _tree(self, path: str) -> YamlTree | None:
        text = read_text(f"{self._base}/{path}", path, self._problems)
        return yaml_tree(text, self._problems) if text else None

    def _check_names(self, files: Iterable[tuple[str, Found]]) -> None:
        """Names are identifiers, and none is given twice: Spark tells no tables apart by case."""
        first: dict[str, tuple[str, Found]] = {}
        for kind, file in files:
            place = Place(file.path, 1, 1)
            if not _NAME.match(file.stem):
                message = f'"{file.stem}" is no name for a {kind}: letters, digits and underscores, no digit first'
                hint = f"rename the file, for example to {_as_name(file)}"
                self._problems.add("invalid-name", message, place, hint)
            folded = file.stem.casefold()
            if folded in first:
                other_kind, other = first[folded]
                message = f'the {kind} "{file.stem}" has the name of the {other_kind} in {other.path}'
                self._problems.add("duplicate-name", message, place, "rename one of the two files")
            first.setdefault(folded, (kind, file))


def _full(file: Found) -> tuple[str, ...]:
    return (*file.folder, file.stem)


def _layers(description: Description | None) -> tuple[Layer, ...]:
    return description.layers if description else ()


def _as_name(file: Found) -> str:
    name = re.sub(r"[^A-Za-z0-9_]+", "_", file.stem)
    suffix = file.path[file.path.rindex(".") :]
    return ("_" if name[:1].isdigit() else "") + name + suffix
