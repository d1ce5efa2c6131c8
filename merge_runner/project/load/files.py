"""The value that loading gives: everything a project says on disk, read, checked for shape, and not yet rendered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.project.schema.config_layers import Layer

if TYPE_CHECKING:  # reading a project that was kept needs none of what it does not have
    from merge_runner.errors import Problem
    from merge_runner.project.load.not_read import UnreadPart
    from merge_runner.project.schema.analysis import AnalysisProperties
    from merge_runner.project.schema.exposure import Exposure
    from merge_runner.project.schema.profile import Profile
    from merge_runner.project.schema.properties import DataTest, Group, MacroProperties, ModelProperties, SourceTable
    from merge_runner.project.schema.selectors import Selector
    from merge_runner.project.schema.settings import Settings
    from merge_runner.project.schema.unit_test import UnitTest
    from merge_runner.project.syntax.environment import EnvVar
    from merge_runner.project.syntax.places import KeyPath
    from merge_runner.project.syntax.yaml_tree import YamlTree
    from merge_runner.text import Place, SourceText

__all__ = [
    "AnalysisFile",
    "DataTestEntry",
    "Layer",
    "ModelFile",
    "ProjectFiles",
    "SeedFile",
    "SourceEntry",
    "UnitTestEntry",
]


@dataclass(frozen=True)
class ModelFile:
    """A model as it is in its file. `layers` are its config from outside the file, the most specific last."""

    name: str
    source: SourceText
    folder: tuple[str, ...]
    """The folders between the model path and the file."""
    layers: tuple[Layer, ...] = ()
    own_layers: tuple[Layer, ...] = ()
    """Those of `layers` that its YAML gives: they are about this model alone."""
    properties: ModelProperties | None = None
    properties_place: Place | None = None
    column_places: Mapping[str, Place] = field(default_factory=dict)
    """Where the YAML declares each column."""


@dataclass(frozen=True)
class SeedFile:
    """A CSV file that becomes a table."""

    name: str
    path: Path
    place: Place
    folder: tuple[str, ...]
    layers: tuple[Layer, ...] = ()
    properties: ModelProperties | None = None
    properties_place: Place | None = None


@dataclass(frozen=True)
class AnalysisFile:
    """An analysis as it is in its file, and what YAML says about it."""

    name: str
    source: SourceText
    folder: tuple[str, ...] = ()
    properties: AnalysisProperties | None = None
    properties_place: Place | None = None


@dataclass(frozen=True)
class SourceEntry:
    """A table of a source and where the YAML declares it."""

    source: str
    table: SourceTable
    place: Place
    meta: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataTestEntry:
    """A data test that YAML attaches: to a model, seed or source table (`on`), perhaps to one of its columns."""

    test: DataTest
    on: tuple[str, ...]
    """(model or seed name,) or (source name, table name)."""
    column: str | None
    place: Place


@dataclass(frozen=True)
class UnitTestEntry:
    """A unit test of a model's MERGE. `tree` is its file, None where it has none, and `at` its path in it."""

    test: UnitTest
    place: Place
    tree: YamlTree | None = field(default=None, repr=False, compare=False)
    at: KeyPath = ()

    def key_place(self, path: KeyPath) -> Place:
        """Return the place of a key below the test, or of the closest one around it."""
        return self.place if self.tree is None else self.tree.key_place((*self.at, *path))

    def value_place(self, path: KeyPath) -> Place:
        """Return the place of a value below the test, or of the closest one around it."""
        return self.place if self.tree is None else self.tree.place((*self.at, *path))

    def text_place(self, path: KeyPath, offset: int) -> Place:
        """Return the place of a character of a text below the test."""
        return self.place if self.tree is None else self.tree.text_place((*self.at, *path), offset)


@dataclass(frozen=True)
class ExposureEntry:
    """An exposure, where the YAML declares it, and where each entry of `depends_on` is."""

    exposure: Exposure
    place: Place
    parents: tuple[Place, ...] = ()


@dataclass(frozen=True)
class ProjectFiles:
    """All of a project. Names are unique, every `properties` belongs to a file; refs are not resolved yet."""

    root: Path
    settings: Settings
    profile: Profile
    models: Mapping[str, ModelFile]
    seeds: Mapping[str, SeedFile]
    sources: Mapping[tuple[str, str], SourceEntry]
    macros: tuple[SourceText, ...]
    singular_tests: tuple[SourceText, ...]
    data_tests: Mapping[tuple[str, ...], tuple[DataTestEntry, ...]]
    """Data tests in YAML, by what they are attached to."""
    unit_tests: tuple[UnitTestEntry, ...]
    exposures: tuple[ExposureEntry, ...]
    vars: Mapping[str, Any]
    selectors: Mapping[str, Selector] = field(default_factory=dict)
    """Named selections of selectors.yml, by name."""
    fixtures: Mapping[str, SourceText] = field(default_factory=dict)
    """Rows of unit tests in files: `<test path>/fixtures/<name>.csv` or `.sql`, by name."""
    packages: Mapping[str, tuple[SourceText, ...]] = field(default_factory=dict)
    """The macro files of the packages that packages.yml declares, by the names of the packages."""
    analyses: tuple[AnalysisFile, ...] = ()
    groups: Mapping[str, Group] = field(default_factory=dict)
    """The groups of models, by name."""
    macro_properties: Mapping[str, MacroProperties] = field(default_factory=dict)
    """What YAML says about macros, by name."""
    unnamed_vars: frozenset[str] = frozenset()
    """Vars that the invocation gives, and that are neither declared nor named in quotes in any file."""
    not_read: tuple[UnreadPart, ...] = ()
    """What of a dbt project is not read."""
    env_vars: tuple[EnvVar, ...] = ()
    """The calls of `env_var` in the profile and the property files."""
    warnings: Mapping[tuple[str, ...], tuple[Problem, ...]] = field(default_factory=dict)
    """Warnings about the YAML of a (model or seed name,) or (source name, table name)."""
    unsaved: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The texts that were read instead of files, by path in the project: an editor has not saved them."""

    def described_config(self, model: str) -> dict[str, Any]:
        """Return what YAML and the settings say of a model's config, the most specific winning per key."""
        layers = self.models[model].layers if model in self.models else ()
        return {key: value for layer in layers for key, value in layer.values.items()}
