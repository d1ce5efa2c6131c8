"""What the property files of a project say, put together and held against the files that exist."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from merge_runner.errors import Problem, Problems, did_you_mean
from merge_runner.formats.types import unknown_type
from merge_runner.project.load.files import DataTestEntry, ExposureEntry, SourceEntry, UnitTestEntry
from merge_runner.project.load.sources import source_entry
from merge_runner.project.schema.analysis import AnalysisProperties
from merge_runner.project.schema.config_layers import Layer, config_layer
from merge_runner.project.schema.properties import (
    Column,
    Group,
    MacroProperties,
    ModelProperties,
    PropertyFile,
    SourceTable,
)
from merge_runner.project.syntax.places import KeyPath
from merge_runner.project.syntax.yaml_tree import YamlTree
from merge_runner.text import Place

Kind = Literal["model", "seed"]
_Named = TypeVar("_Named", Group, MacroProperties)

_WITH_CONFIG = ("tags", "meta", "docs", "contract", "group", "access")
"""Config keys that dbt also has next to `config`."""


@dataclass(frozen=True)
class Description:
    """The properties of one model or seed, their place and those of its columns, and the config layers in them."""

    properties: ModelProperties
    place: Place
    layers: tuple[Layer, ...]
    column_places: Mapping[str, Place] = field(default_factory=dict)


@dataclass
class ResolvedProperties:
    """Everything that property files say. `names` are those of the models, seeds and analyses that have files."""

    names: Mapping[Kind | Literal["analysis"], frozenset[str]]
    fixtures: frozenset[str]
    problems: Problems
    models: dict[str, Description] = field(default_factory=dict)
    seeds: dict[str, Description] = field(default_factory=dict)
    sources: dict[tuple[str, str], SourceEntry] = field(default_factory=dict)
    data_tests: dict[tuple[str, ...], list[DataTestEntry]] = field(default_factory=dict)
    unit_tests: dict[tuple[str, str], UnitTestEntry] = field(default_factory=dict)
    exposures: dict[str, ExposureEntry] = field(default_factory=dict)
    groups: dict[str, Group] = field(default_factory=dict)
    macros: dict[str, MacroProperties] = field(default_factory=dict)
    analyses: dict[str, tuple[AnalysisProperties, Place]] = field(default_factory=dict)
    warnings: dict[tuple[str, ...], tuple[Problem, ...]] = field(default_factory=dict)
    """Of a (model or seed name,) or (source name, table name)."""
    _disabled: set[tuple[str, str]] = field(default_factory=set)
    """The source tables that are not enabled."""
    _places: dict[tuple[str, str], Place] = field(default_factory=dict)
    """Of groups and macros, by the kind and name."""

    def add(self, file: PropertyFile, tree: YamlTree) -> None:
        """Takes over a property file; every contradiction becomes a problem."""
        self._add_properties("model", file.models, tree)
        self._add_properties("seed", file.seeds, tree)
        self._add_sources(file, tree)
        self._add_unit_tests(file, tree)
        self._add_exposures(file, tree)
        self._add_named("group", file.groups, self.groups, tree)
        self._add_named("macro", file.macros, self.macros, tree)
        self._add_analyses(file.analyses, tree)

    def _add_analyses(self, entries: Iterable[AnalysisProperties], tree: YamlTree) -> None:
        for index, entry in enumerate(entries):
            place = tree.place(("analyses", index, "name"))
            if entry.name not in self.names["analysis"]:
                hint = did_you_mean(entry.name, self.names["analysis"])
                self.problems.add("unknown-analysis", f'there is no analysis "{entry.name}" to describe', place, hint)
            elif entry.name in self.analyses:
                self._add_duplicate("analysis", entry.name, place, self.analyses[entry.name][1])
            else:
                self.analyses[entry.name] = entry, place

    def _add_named(self, kind: str, entries: Iterable[_Named], by_name: dict[str, _Named], tree: YamlTree) -> None:
        """Take over groups or macros, each of which has one entry by its name."""
        for index, entry in enumerate(entries):
            place = tree.place((f"{kind}s", index, "name"))
            first = self._places.setdefault((kind, entry.name), place)
            if by_name.setdefault(entry.name, entry) is not entry:
                self._add_duplicate(kind, entry.name, place, first)

    def _add_properties(self, kind: Kind, entries: Iterable[ModelProperties], tree: YamlTree) -> None:
        descriptions = self.models if kind == "model" else self.seeds
        for index, entry in enumerate(entries):
            at: KeyPath = (f"{kind}s", index)
            place = tree.place((*at, "name"))
            places = self._check_columns((entry.name,), f"{kind} {entry.name}", entry.columns, at, tree)
            if entry.name not in self.names[kind]:
                self._add_unknown(kind, entry.name, place)
            elif entry.name in descriptions:
                self._add_duplicate(kind, entry.name, place, descriptions[entry.name].place)
            else:
                descriptions[entry.name] = Description(entry, place, self._layers(kind, entry, at, tree), places)
            self._add_data_tests((entry.name,), f"{kind} {entry.name}", place, entry)

    def _layers(self, kind: Kind, entry: ModelProperties, at: KeyPath, tree: YamlTree) -> tuple[Layer, ...]:
        with_config = {key: value for key in _WITH_CONFIG if (value := getattr(entry, key))}
        layers = []
        if with_config:
            layers.append(Layer(with_config, {key: tree.key_place((*at, key)) for key in with_config}))
        if entry.config:
            of = f"{kind} {entry.name}"
            layers.append(
                config_layer(entry.config, tree, self.problems, at=(*at, "config"), of=of, seed=kind == "seed")
            )
        return tuple(layers)

    def _add_sources(self, file: PropertyFile, tree: YamlTree) -> None:
        for index, source in enumerate(file.sources):
            for number, table in enumerate(source.tables):
                at: KeyPath = ("sources", index, "tables", number)
                key = (source.name, table.name)
                entry = source_entry(source, table, tree.place((*at, "name")), self.problems)
                self._check_columns(key, f"source {source.name}, table {table.name}", table.columns, at, tree)
                if key in self.sources:
                    self._add_duplicate(
                        "source table", f"{source.name}.{table.name}", entry.place, self.sources[key].place
                    )
                elif source.config.enabled and table.config.enabled:
                    self.sources[key] = entry
                    of = f"source {source.name}, table {table.name}"
                    self._add_data_tests(key, of, entry.place, table)
                else:
                    self._disabled.add(key)

    def _add_unit_tests(self, file: PropertyFile, tree: YamlTree) -> None:
        for index, test in enumerate(file.unit_tests):
            place = tree.place(("unit_tests", index, "name"))
            key = (test.model, test.name)
            if test.model not in self.names["model"]:
                at = tree.place(("unit_tests", index, "model"))
                message = f'unit test {test.name}: there is no model "{test.model}"'
                self.problems.add("unknown-model", message, at, did_you_mean(test.model, self.names["model"]))
            if key in self.unit_tests:
                self._add_duplicate("unit test", test.name, place, self.unit_tests[key].place)
            self.unit_tests.setdefault(key, UnitTestEntry(test, place, tree, ("unit_tests", index)))
            fixtures = [
                (test_input.fixture, ("given", number, "fixture")) for number, test_input in enumerate(test.given)
            ]
            for fixture, below in (*fixtures, (test.expect.fixture, ("expect", "fixture"))):
                if fixture is not None and fixture not in self.fixtures:
                    message = f'unit test {test.name}: there is no fixture "{fixture}"'
                    hint = did_you_mean(fixture, self.fixtures) or "write it as fixtures/NAME.csv in a test path"
                    at = tree.place(("unit_tests", index, *below))
                    self.problems.add("unknown-fixture", message, at, hint)

    def _add_exposures(self, file: PropertyFile, tree: YamlTree) -> None:
        for index, exposure in enumerate(file.exposures):
            place = tree.place(("exposures", index, "name"))
            if exposure.name in self.exposures:
                self._add_duplicate("exposure", exposure.name, place, self.exposures[exposure.name].place)
                continue
            parents = tuple(
                tree.place(("exposures", index, "depends_on", number)) for number in range(len(exposure.depends_on))
            )
            self.exposures[exposure.name] = ExposureEntry(exposure, place, parents)

    def _add_data_tests(
        self, on: tuple[str, ...], of: str, holder: Place, entry: ModelProperties | SourceTable
    ) -> None:
        groups = [(None, entry.data_tests), *((column.name, column.data_tests) for column in entry.columns)]
        for column, tests in groups:
            first: dict[str, Place] = {}
            for test in tests:
                place = test.place or holder
                key = repr(test)
                if key in first:
                    subject = of if column is None else f"{of}, column {column}"
                    message = f"{subject}: the data test {test.name} appears twice, first in {first[key]}"
                    self.problems.add("duplicate-test", message, place, "remove one of them")
                first.setdefault(key, place)
                self.data_tests.setdefault(on, []).append(DataTestEntry(test, on, column, place))

    def _check_columns(
        self, on: tuple[str, ...], of: str, columns: Iterable[Column], at: KeyPath, tree: YamlTree
    ) -> Mapping[str, Place]:
        """Check the names and types of columns, and return the place of each by its name."""
        places: dict[str, Place] = {}
        places_by_folded: dict[str, Place] = {}
        warnings = []
        for index, column in enumerate(columns):
            place = places[column.name] = tree.place((*at, "columns", index, "name"))
            folded = column.name.casefold()
            if folded in places_by_folded:
                message = f'{of}: the column "{column.name}" is described twice, first in {places_by_folded[folded]}'
                self.problems.add("duplicate-column", message, place, "Spark's column names are case-insensitive")
            places_by_folded.setdefault(folded, place)
            if column.data_type is not None and (wrong := unknown_type(column.data_type)) is not None:
                type_place = tree.place((*at, "columns", index, "data_type"))
                message, hint = wrong
                warnings.append(Problem("unknown-type", f"{of}, column {column.name}: {message}", type_place, hint))
        if warnings:
            self.warnings[on] = (*self.warnings.get(on, ()), *warnings)
        return places

    def _add_unknown(self, kind: Kind, name: str, place: Place) -> None:
        other_kind: Kind = "seed" if kind == "model" else "model"
        hint = did_you_mean(name, self.names[kind])
        if name in self.names[other_kind]:
            hint = f'"{name}" is a {other_kind}: describe it under "{other_kind}s:"'
        message = f'there is no {kind} "{name}" to describe'
        code = {"model": "unknown-model", "seed": "unknown-seed"}[kind]
        self.problems.add(code, message, place, hint)

    def _add_duplicate(self, kind: str, name: str, place: Place, first: Place) -> None:
        message = f'the {kind} "{name}" is described twice, first in {first}'
        self.problems.add("duplicate-name", message, place, "keep one of the two")
