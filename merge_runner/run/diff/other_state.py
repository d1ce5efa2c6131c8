"""What the table of a model is compared with, and how that is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.table_format.commit_metadata import written_by
from merge_runner.engine.table_format.protocol import Commit, TableVersion
from merge_runner.engine.tables.catalog import CatalogSession
from merge_runner.formats import Format
from merge_runner.formats.registry import table_format_of
from merge_runner.graph.graph import RefNode
from merge_runner.graph.selection.state import read_manifest
from merge_runner.plan.layout.table_layout import own_relation
from merge_runner.plan.load.defer import Deferral, built_nodes
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.nodes.inputs import Inputs
from merge_runner.plan.steps.inputs import TableInput
from merge_runner.run.diff.rebuild import rebuilt_table


@dataclass(frozen=True)
class OtherProject:
    """The same model in another target, or as an earlier manifest says that it was built."""

    prepared: Prepared


@dataclass(frozen=True)
class EarlierVersion:
    """The table as of a version (on Iceberg the id of a snapshot)."""

    version: int


@dataclass(frozen=True)
class EarlierTime:
    """The table as it was at a time."""

    time: datetime


@dataclass(frozen=True)
class OnBranch:
    """The table on a branch."""

    name: str


@dataclass(frozen=True)
class Rebuild:
    """What the model gives where it is built from nothing, from its inputs as they are now."""


@dataclass(frozen=True)
class BeforeRun:
    """The table before the commits of an invocation."""

    invocation_id: str


OtherState = OtherProject | EarlierVersion | EarlierTime | OnBranch | Rebuild | BeforeRun


NEW_TABLE = "new-table"
"""The code of the error where a table has no version from before a run."""
_OTHERS = 50
"""Commits of others in a row after which a run has committed nothing more."""


class OtherStateError(ValueError):
    """None of the other states is named, or more than one."""


def other_state(
    prepared: Prepared,
    *,
    against: str | None = None,
    state: Path | None = None,
    version: int | None = None,
    timestamp: datetime | None = None,
    branch: str | None = None,
    rebuild: bool = False,
) -> OtherState:
    """Return the one state that is named; `state`, the folder of a manifest.json, counts where nothing else is.

    Raises OtherStateError where none is named, or more than one, ProblemsError for an error of a target or manifest.
    """
    if sum((against is not None, version is not None, timestamp is not None, branch is not None, rebuild)) > 1:
        raise OtherStateError("diff takes one of against, version, timestamp, branch and rebuild")
    if against is not None:
        return OtherProject(prepared.in_target(against))
    if version is not None:
        return EarlierVersion(version)
    if timestamp is not None:
        return EarlierTime(timestamp)
    if branch is not None:
        return OnBranch(branch)
    if rebuild:
        return Rebuild()
    if state is not None:
        return _recorded_state(prepared, state)
    raise OtherStateError("diff needs one of against, state, version, timestamp, branch and rebuild")


def _recorded_state(prepared: Prepared, folder: Path) -> OtherProject:
    """Return the project with all tables where the manifest in a folder has them. Raises ProblemsError."""
    nodes = built_nodes(read_manifest(folder))
    return OtherProject(replace(prepared, deferral=Deferral(nodes, frozenset(nodes))))


@dataclass(frozen=True)
class Side:
    """A table, or a view (`format` None), under the label that people read."""

    label: str
    table: TableVersion
    format: Format | None


@contextmanager
def other_side(other: OtherState, prepared: Prepared, node: RefNode, engine: CatalogSession) -> Iterator[Side]:
    """The other state of a node's table, inside the block. Raises EngineError where there is none."""
    relation = own_relation(node)
    if isinstance(other, OtherProject):
        yield _side_of_project(other.prepared, node, engine)
    elif isinstance(other, Rebuild):
        with rebuilt_table(prepared, node, engine) as table:
            yield Side("a rebuild", TableVersion(table), node.config.format)
    else:
        label, version = _version(other, engine, node)
        yield Side(f"{relation.name} {label}", TableVersion(relation, version), node.config.format)


def _side_of_project(prepared: Prepared, node: RefNode, engine: CatalogSession) -> Side:
    target = prepared.files.profile.target
    there = prepared.graph.nodes.get(node.unique_id)
    if not isinstance(there, RefNode):
        raise EngineError("not-compared", f"the target {target} has no {node.name}")
    if prepared.compiler.relation(node.unique_id).name.casefold() == own_relation(node).name.casefold():
        message = f"both are the table {own_relation(node).name}"
        raise EngineError("not-compared", message, "the other target needs another `schema`, or another catalog")
    return project_side(prepared, there, engine)


def project_side(prepared: Prepared, node: RefNode, engine: CatalogSession) -> Side:
    """Return the table of a node as it is now, pinned to its version. Raises EngineError where it is not built.

    A project with a deferral has it where another target has built it.
    """
    relation = prepared.compiler.relation(node.unique_id)
    inputs = Inputs(prepared).attach([node.unique_id]).inputs
    for item in inputs:
        engine.catalog.attach(engine.session, item)
    own = next((item for item in inputs if item.relation == relation), None)
    if not isinstance(own, TableInput):
        return Side(relation.name, TableVersion(relation), None)
    format = table_format_of(own.format)
    state = engine.catalog.table_format(format).state(engine.session, relation)
    version = state.version if state.has_present_columns else None
    return Side(relation.name, TableVersion(relation, version), format)


def version_before(states: Iterable[Commit], invocation_id: str) -> int | None:
    """Return the version before the first commit of an invocation; None where its first one made the table.

    `states` are those of the table, newest first. Others may have committed meanwhile: the search ends after so many of
    their commits in a row as that for a commit of ours does. Where the invocation has committed nothing, it is the
    newest version.
    """
    before, others = None, 0
    for commit in states:
        writer = written_by(commit.stamp)
        if writer is not None and writer.invocation_id == invocation_id:
            before, others = None, 0
            continue
        before, others = commit.version if before is None else before, others + 1
        if others > _OTHERS:
            break
    return before


def _version(
    other: EarlierVersion | EarlierTime | OnBranch | BeforeRun, engine: CatalogSession, node: RefNode
) -> tuple[str, int]:
    """Return how an earlier state is called, and its version."""
    session, relation = engine.session, own_relation(node)
    if isinstance(other, EarlierVersion):
        return f"at version {other.version}", other.version
    format = engine.catalog.table_format(node.config.format)
    if isinstance(other, EarlierTime):
        milliseconds = other.time.timestamp() * 1000
        for commit in format.earlier_states(session, relation):
            if commit.milliseconds is not None and commit.milliseconds <= milliseconds:
                return f"at {other.time:%Y-%m-%d %H:%M:%S} UTC", commit.version
        raise EngineError("not-compared", f"{relation.name} has no version of {other.time:%Y-%m-%d %H:%M:%S} UTC")
    if isinstance(other, BeforeRun):
        states = format.earlier_states(session, relation)
        before = version_before(states, other.invocation_id)
        if before is None:
            raise EngineError(NEW_TABLE, f"{relation.name} has no version from before the run")
        return "before the run", before
    if not format.capabilities.has_branches:
        raise EngineError("not-compared", f"{node.name} is {format.capabilities.a_table}, which has no branches")
    heads = format.branches.heads(session, relation)
    if other.name not in heads:
        raise EngineError("not-compared", f"{relation.name} has no branch {other.name}")
    return f"on the branch {other.name}", heads[other.name]
