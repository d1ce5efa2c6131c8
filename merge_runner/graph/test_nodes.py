"""Nodes of tests: generic ones from YAML, singular ones from SQL files, unit tests."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

from merge_runner.errors import Problems, did_you_mean
from merge_runner.graph.config_checks import refuse_unknown_keys
from merge_runner.graph.graph import DataTestNode, GenericTest, Node, UnitTestCase, UnitTestNode
from merge_runner.graph.references import call_in
from merge_runner.project.load.files import DataTestEntry, UnitTestEntry
from merge_runner.project.schema.config import as_list
from merge_runner.project.schema.data_test import DataTestConfig
from merge_runner.relation import Relation
from merge_runner.template.static.macro_definitions import TEST_PREFIX, MacroDefinition
from merge_runner.testing.data_tests import known_tests
from merge_runner.text import Place, SourceText

if TYPE_CHECKING:
    from merge_runner.template.capture import Capture
    from merge_runner.template.packages import Packages

_LONGEST_NAME = 63
_CONFIG = tuple(config_field.name for config_field in fields(DataTestConfig))

Resolve = Callable[[str, tuple[str, ...], Place], str | None]


def generic_test_node(
    project: str, entry: DataTestEntry, owner: Node, own: Collection[str], resolve: Resolve, problems: Problems
) -> DataTestNode | None:
    """The node of a test that YAML attaches to `owner`; None, and a problem, where the test is not known.

    `own` are the names of the project's own tests, and with their package those of its packages. A built-in test is
    taken first, whatever package it is named with: lint knows what it shows.
    """
    test = entry.test
    last = test.name.rpartition(".")[2]
    name = test.name if test.name in own and last not in known_tests() else last
    names = known_tests() | set(own)
    if name not in names:
        hint = did_you_mean(name, names) or f"write it as {{% test {name}(model) %}} … {{% endtest %}} in tests/generic"
        problems.add("unknown-test", f'there is no data test "{test.name}"', entry.place, hint)
        return None
    parents = [owner.unique_id]
    arguments: dict[str, Any] = {}
    for key, value in test.arguments.items():
        call = call_in(value) if isinstance(value, str) else None
        if call is None:
            arguments[key] = value
            continue
        parent = resolve(*call, entry.place)
        if parent is None:
            return None
        arguments[key] = parent
        parents.append(parent)
    full_name = "_".join(
        [name, "source_" + "_".join(entry.on) if len(entry.on) > 1 else entry.on[0], entry.column or ""]
    )
    full_name = _short(full_name.rstrip("_"), repr(sorted(arguments.items(), key=str)) if arguments else "")
    # The name is that of a file, too: nothing of a column's name may lead out of its folder.
    full_name = re.sub(r"\W+", "_", test.label or full_name)
    digest = hashlib.sha256(repr((entry.on, entry.column, test)).encode()).hexdigest()
    return DataTestNode(
        unique_id=f"test.{project}.{full_name}.{digest[:10]}",
        name=full_name,
        path=entry.place.path,
        fqn=(project, *owner.fqn[1:-1], full_name),
        place=entry.place,
        config=DataTestConfig(**{key: getattr(test, key) for key in _CONFIG}),
        tags=test.tags,
        depends_on=tuple(dict.fromkeys(parents)),
        checksum=digest,
        generic_test=GenericTest(name, arguments, owner.unique_id, entry.column),
    )


def test_arguments(test: GenericTest, model: Relation, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the macro of a test is called with: `model`, `column_name` of a test on a column, and its own."""
    column = {"column_name": test.column} if test.column is not None else {}
    return {"model": model, **column, **arguments}


def singular_test_node(
    project: str,
    source: SourceText,
    captured: Capture,
    parents: tuple[str, ...],
    macros: tuple[str, ...],
    problems: Problems,
) -> DataTestNode:
    """The node of a SQL file whose rows are failures; unknown keys of its config are problems."""
    name = source.path.rsplit("/", 1)[-1].removesuffix(".sql")
    refuse_unknown_keys(captured.config, _CONFIG, "a data test", problems)
    config = _config(captured.config.values)
    return DataTestNode(
        unique_id=f"test.{project}.{name}",
        name=name,
        path=source.path,
        fqn=(project, name),
        place=Place(source.path, 1, 1),
        config=config,
        tags=config.tags,
        depends_on=parents,
        checksum=hashlib.sha256(source.text.encode()).hexdigest(),
        raw_code=source.text,
        macros=macros,
    )


def unit_test_node(project: str, entry: UnitTestEntry, model: str) -> UnitTestNode:
    """The node of a unit test of a model."""
    test = entry.test
    tags = tuple(dict.fromkeys((*test.tags, *test.config.tags)))
    return UnitTestNode(
        unique_id=f"unit_test.{project}.{test.model}.{test.name}",
        name=test.name,
        path=entry.place.path,
        fqn=(project, test.model, test.name),
        place=entry.place,
        config=replace(test.config, tags=tags),
        tags=tags,
        depends_on=(model,),
        checksum=hashlib.sha256(repr(test).encode()).hexdigest(),
        description=test.description or "",
        unit_test=UnitTestCase(test.model, tuple(asdict(test_input) for test_input in test.given), asdict(test.expect)),
    )


def _config(values: Mapping[str, Any]) -> DataTestConfig:
    """The config that a singular test writes in its file."""
    values_of_config = {key: value for key, value in values.items() if key in _CONFIG}
    if "severity" in values_of_config:
        values_of_config["severity"] = str(values_of_config["severity"]).lower()
    if "tags" in values_of_config:
        values_of_config["tags"] = tuple(as_list(values_of_config["tags"]))
    return DataTestConfig(**values_of_config)


def _short(name: str, arguments: str) -> str:
    """Return a unique and short test name: a digest of the arguments makes the difference, as in dbt."""
    if arguments:
        name = f"{name}__{hashlib.sha256(arguments.encode()).hexdigest()[:8]}"
    if len(name) <= _LONGEST_NAME:
        return name
    return f"{name[:30]}_{hashlib.sha256(name.encode()).hexdigest()[:32]}"


def own_test_names(macros: Iterable[MacroDefinition], packages: Packages, problems: Problems) -> frozenset[str]:
    """Return the names of the data tests that the project and its packages define, the latter with their package.

    One of the project with the name of a built-in is a problem.
    """
    own_names = []
    for macro in macros:
        if macro.name.startswith(TEST_PREFIX):
            own_names.append(macro.name.removeprefix(TEST_PREFIX))
            if own_names[-1] in known_tests():
                message = f'"{own_names[-1]}" is a built-in data test'
                problems.add("reserved-name", message, macro.place, "give the test another name")
    packaged = ((package, name) for package in packages.of_project for name in packages.macros(package))
    tests = (
        f"{package}.{name.removeprefix(TEST_PREFIX)}" for package, name in packaged if name.startswith(TEST_PREFIX)
    )
    return frozenset((*own_names, *tests))
