"""The DAG of a project as a value: nodes by id, edges from parent to child."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from merge_runner.relation import Relation
from merge_runner.text import Place

if TYPE_CHECKING:
    import networkx as nx

    from merge_runner.errors import Problem

ResourceType = Literal["model", "seed", "source", "test", "unit_test"]


@dataclass(frozen=True)
class GenericTest:
    """What a data test in YAML calls: the test's name (`not_null`), its arguments, and what it is attached to."""

    name: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    attached_node: str | None = None
    """Id of the model, seed or source that the YAML attaches it to; such a test may have other parents besides."""
    column: str | None = None


@dataclass(frozen=True)
class UnitTestCase:
    """The rows of a unit test, as plain YAML values: `given` items and `expect` have dbt's keys (`input`, `rows`)."""

    model: str
    given: tuple[Mapping[str, Any], ...] = ()
    expect: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Macro:
    """One macro. `unique_id` is dbt's: `macro.<project>.<name>`; `sql` is its text from `{% macro` to `endmacro %}`."""

    unique_id: str
    name: str
    path: str
    """The author's file, relative to the project with forward slashes."""
    sql: str
    macros: tuple[str, ...] = ()
    """Ids of the macros that it calls itself."""
    description: str = ""


@dataclass(frozen=True)
class Node:
    """One node. `unique_id` is dbt's: `model.<project>.<name>`, `source.<project>.<source>.<table>`, `test.…`."""

    unique_id: str
    name: str
    resource_type: ResourceType
    path: str
    """The author's file, relative to the project with forward slashes."""
    fqn: tuple[str, ...]
    """Project, folders, name: what `path:`-like selection by dotted name matches."""
    place: Place
    relation: Relation | None = None
    config: Mapping[str, Any] = field(default_factory=dict)
    """Resolved config by its key names (`materialized`, `format`, `schema`, `tags`, …), plain JSON values."""
    tags: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    """Ids of the parents, in the order in which the file names them."""
    changes_of: str | None = None
    """Id of the parent whose changes it reads (`changes('model')`)."""
    checksum: str = ""
    """SHA-256 of what the author wrote for this node."""
    test_type: str | None = None
    """For a test: `generic`, `singular` or `unit`."""
    description: str = ""
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Declared columns by name, with dbt's keys (`data_type`, `description`, `constraints`, `meta`, `tags`)."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    raw_code: str = ""
    """The author's text, Jinja included; empty where there is none (a source, a seed)."""
    macros: tuple[str, ...] = ()
    """Ids of the project's macros that it calls itself, those that name its relation included."""
    patch_path: str | None = None
    """The YAML file that describes a node of another file, relative to the project with forward slashes."""
    files: tuple[str, ...] = ()
    """Other files it is made of, relative to the project: the data of a source, a fixture. Folders and globs, too."""
    unrendered_config: Mapping[str, Any] = field(default_factory=dict)
    """Config as written, before Jinja; empty where it was not kept."""
    source_name: str | None = None
    """For a table of a source: the name of the source."""
    generic_test: GenericTest | None = None
    unit_test: UnitTestCase | None = None
    differs_by_run: bool = False
    """Whether its text or a hook may differ between an incremental run, a first run and a full refresh."""

    @property
    def application(self) -> str:
        """Project and name: what a table's records of batches and of consumed changes know the node by."""
        return self.unique_id.partition(".")[2]


@dataclass(frozen=True)
class Graph:
    """All nodes and the DAG over their ids; acyclic."""

    project: str
    nodes: Mapping[str, Node]
    dag: nx.DiGraph[str]
    macros: Mapping[str, Macro] = field(default_factory=dict)
    """The project's own macros by id."""
    disabled: tuple[Node, ...] = ()
    """Nodes that config turned off: in no selection, but in the manifest."""
    unread: frozenset[str] = frozenset()
    """Names of models that are no nodes because their Jinja cannot be rendered, where a graph is made without them."""
    warnings: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    """What a model asks for and its materialization does not do, by the model's id."""
    vars_read: frozenset[str] = frozenset()
    """Names of the vars that templates asked for while the graph was built."""

    @cached_property
    def tests_of_one_name(self) -> frozenset[str]:
        """Ids of the tests in YAML whose name another test in the same file has, such as two with different `where`."""
        tests = [node for node in self.nodes.values() if node.generic_test is not None]
        names = Counter((node.path, node.name) for node in tests)
        return frozenset(node.unique_id for node in tests if names[node.path, node.name] > 1)
