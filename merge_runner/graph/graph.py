"""The DAG of a project as a value: nodes by id, edges from parent to child."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, get_args

from merge_runner.errors import Problem, ProblemsError, did_you_mean
from merge_runner.project.schema.config import Materialized, ModelConfig
from merge_runner.project.syntax.environment import EnvVar
from merge_runner.relation import Relation
from merge_runner.text import Place

if TYPE_CHECKING:
    from merge_runner.project.schema.analysis import AnalysisConfig
    from merge_runner.project.schema.data_test import DataTestConfig
    from merge_runner.project.schema.exposure import Exposure
    from merge_runner.project.schema.properties import SourceTable
    from merge_runner.project.schema.unit_test import UnitTestConfig

ResourceType = Literal["model", "seed", "source", "test", "unit_test", "exposure", "analysis"]
RESOURCE_TYPES: tuple[ResourceType, ...] = get_args(ResourceType)


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
    """One macro. `unique_id` is dbt's: `macro.<package>.<name>`; `sql` is its text from `{% macro` to `endmacro %}`."""

    unique_id: str
    name: str
    path: str
    """The author's file, relative to the project with forward slashes; of a package it begins with its name."""
    sql: str
    macros: tuple[str, ...] = ()
    """Ids of the macros that it calls itself."""
    description: str = ""


@dataclass(frozen=True)
class Node:
    """What nodes of all kinds have.

    `unique_id` is dbt's: `model.<project>.<name>`, `source.<project>.<source>.<table>`, `test.…`.
    """

    unique_id: str
    name: str
    path: str
    """The author's file, relative to the project with forward slashes."""
    fqn: tuple[str, ...]
    """Project, folders, name: what `path:`-like selection by dotted name matches."""
    place: Place
    relation: Relation | None = None
    tags: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    """Ids of the parents, in the order in which the file names them."""
    checksum: str = ""
    """SHA-256 of what the author wrote for this node."""
    description: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)
    raw_code: str = ""
    """The author's text, Jinja included; empty where there is none (a source, a seed)."""
    macros: tuple[str, ...] = ()
    """Ids of the macros that it calls itself, those that name its relation included."""
    patch_path: str | None = None
    """The YAML file that describes a node of another file, relative to the project with forward slashes."""

    resource_type: ClassVar[ResourceType]

    @property
    def application(self) -> str:
        """Project and name: what a table's records of batches and of consumed changes know the node by."""
        return self.unique_id.partition(".")[2]

    @property
    def full_name(self) -> str:
        """The name as messages and listings show it: that of a table of a source with the name of the source."""
        return self.name

    @property
    def materialized(self) -> Materialized | None:
        """How a model is built; None for nodes of other kinds."""
        return None


@dataclass(frozen=True, kw_only=True)
class RefNode(Node):
    """What `ref` names: a model or a seed."""

    config: ModelConfig
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Declared columns by name, with dbt's keys (`data_type`, `description`, `constraints`, `meta`, `tags`)."""


@dataclass(frozen=True, kw_only=True)
class ModelNode(RefNode):
    """A model. `materialized` is set in its config, and `properties` and `conf` hold what other keys imply."""

    constraints: tuple[Mapping[str, Any], ...] = ()
    """Declared constraints of the table, with dbt's keys (`type`, `columns`, `expression`, `name`)."""
    changes_of: str | None = None
    """Id of the parent whose changes it reads (`changes('model')`)."""
    unrendered_config: Mapping[str, Any] = field(default_factory=dict)
    """Config as written in the file, before Jinja."""
    differs_by_run: bool = False
    """Whether its text or a hook may differ between an incremental run, a first run and a full refresh."""

    resource_type = "model"

    @property
    def materialized(self) -> Materialized:
        """How the model is built."""
        assert self.config.materialized is not None, f"{self.unique_id} has unresolved config"
        return self.config.materialized


@dataclass(frozen=True, kw_only=True)
class SeedNode(RefNode):
    """A CSV file that is loaded into a table."""

    resource_type = "seed"


@dataclass(frozen=True, kw_only=True)
class SourceNode(Node):
    """A table of a source: files or a table that this project does not write."""

    config: SourceTable
    """The table as declared, with what it takes over from its source."""
    source_name: str
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Declared columns by name, with dbt's keys, as a model has them."""
    files: tuple[str, ...] = ()
    """The files with its rows, relative to the project. Folders and globs, too."""

    resource_type = "source"

    @property
    def full_name(self) -> str:
        """`<source>.<table>`."""
        return f"{self.source_name}.{self.name}"


@dataclass(frozen=True, kw_only=True)
class DataTestNode(Node):
    """A data test: a query whose rows are failures. `generic_test` None: a separate SQL file."""

    config: DataTestConfig
    generic_test: GenericTest | None = None

    resource_type = "test"


@dataclass(frozen=True, kw_only=True)
class UnitTestNode(Node):
    """A unit test of a model."""

    config: UnitTestConfig
    unit_test: UnitTestCase

    resource_type = "unit_test"


@dataclass(frozen=True, kw_only=True)
class ExposureNode(Node):
    """What reads tables of the project from outside. No command runs it."""

    config: Exposure

    resource_type = "exposure"


@dataclass(frozen=True, kw_only=True)
class AnalysisNode(Node):
    """A query that is compiled, and that no command builds."""

    config: AnalysisConfig
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Declared columns by name, with dbt's keys."""

    resource_type = "analysis"


class Dag:
    """Edges from parent to child over ids, made when they are asked for."""

    def __init__(self, parents: Mapping[str, Iterable[str]]) -> None:
        """Take the parents of each id; to a parent that is none of the ids there is no edge."""
        self._parents = parents

    @cached_property
    def pred(self) -> Mapping[str, Mapping[str, None]]:
        """The parents of each id."""
        parents = self._parents
        return {
            unique_id: {parent: None for parent in parent_ids if parent in parents}
            for unique_id, parent_ids in parents.items()
        }

    @cached_property
    def succ(self) -> Mapping[str, Mapping[str, None]]:
        """The children of each id."""
        children: dict[str, dict[str, None]] = {unique_id: {} for unique_id in self.pred}
        for unique_id, above in self.pred.items():
            for parent in above:
                children[parent][unique_id] = None
        return children

    @property
    def edges(self) -> Iterator[tuple[str, str]]:
        """The edges as pairs of parent and child, by parent."""
        return ((parent, child) for parent, children in self.succ.items() for child in children)


@dataclass(frozen=True)
class Graph:
    """All nodes and the DAG over their ids; acyclic."""

    project: str
    nodes: Mapping[str, Node]
    dag: Dag
    macros: Mapping[str, Macro] = field(default_factory=dict)
    """The project's own macros by id, and those of packages that a node calls."""
    disabled: tuple[Node, ...] = ()
    """Nodes that config turned off: in no selection, but in the manifest."""
    unread: frozenset[str] = frozenset()
    """Names of models that are no nodes because their Jinja cannot be rendered, where a graph is made without them."""
    warnings: Mapping[str, tuple[Problem, ...]] = field(default_factory=dict)
    """What a model asks for and its materialization does not do, by the model's id."""
    vars_of: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Names of the vars that templates asked for while the graph was built, by the file that asked."""
    env_vars_of: Mapping[str, tuple[EnvVar, ...]] = field(default_factory=dict)
    """The calls of `env_var` while the graph was built, by the file that was rendered."""

    def model(self, unique_id: str) -> ModelNode:
        """Return the model of this id. Raises TypeError for a node of another kind."""
        node = self.nodes[unique_id]
        if not isinstance(node, ModelNode):
            raise TypeError(f"{unique_id} is no model")
        return node

    def warnings_of(self, ids: Iterable[str]) -> list[Problem]:
        """Return what each of the nodes `ids` asks for and its materialization does not do."""
        return [problem for unique_id in ids for problem in self.warnings.get(unique_id, ())]

    @cached_property
    def vars_read(self) -> frozenset[str]:
        """Names of the vars that templates asked for while the graph was built."""
        return frozenset().union(*self.vars_of.values())

    @cached_property
    def macros_by_call(self) -> Mapping[str, tuple[Macro, ...]]:
        """The project's own macros by the names that a text may call them by.

        `adapter.dispatch('m')` calls `default__m` and the like.
        """
        by_call: dict[str, tuple[Macro, ...]] = {}
        for unique_id, macro in self.macros.items():
            if unique_id.startswith(f"macro.{self.project}."):
                for name in {macro.name, macro.name.partition("__")[2] or macro.name}:
                    by_call[name] = (*by_call.get(name, ()), macro)
        return by_call

    @cached_property
    def tests_of_one_name(self) -> frozenset[str]:
        """Ids of the tests in YAML whose name another test in the same file has, such as two with different `where`."""
        tests = [node for node in self.nodes.values() if isinstance(node, DataTestNode) and node.generic_test]
        names = Counter((node.path, node.name) for node in tests)
        return frozenset(node.unique_id for node in tests if names[node.path, node.name] > 1)


def run_config(node: Node) -> ModelConfig:
    """Return the config for running a node: that of a model or seed, else the defaults (no `retries`, no `conf` …)."""
    return node.config if isinstance(node, RefNode) else _DEFAULTS


_DEFAULTS = ModelConfig()
_Kind = TypeVar("_Kind", bound=Node)


def nodes_of(nodes: Mapping[str, Node], kind: type[_Kind]) -> Iterator[_Kind]:
    """Yield the nodes of a kind, in their order."""
    return (node for node in nodes.values() if isinstance(node, kind))


def named_model(graph: Graph, name: str) -> ModelNode:
    """The model of this name. Raises ProblemsError, with the nearest name, where there is none."""
    models = {node.name: node for node in graph.nodes.values() if isinstance(node, ModelNode)}
    if name not in models:
        problem = Problem("unknown-model", f'there is no model "{name}"', hint=did_you_mean(name, models))
        raise ProblemsError([problem])
    return models[name]
