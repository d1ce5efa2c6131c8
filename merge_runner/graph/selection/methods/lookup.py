"""What the selection methods look into, and how they say that nothing was found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from merge_runner.errors import Problem, ProblemsError, did_you_mean, nearest
from merge_runner.graph.git import changed_files
from merge_runner.graph.graph import Graph, Node
from merge_runner.graph.selection.criterion import Criterion
from merge_runner.graph.selection.state import Change, changes, read_manifest, read_results
from merge_runner.project.schema.selectors import Indirect, Selector

ColumnReach = Callable[[Mapping[str, Any], Mapping[str, frozenset[Change]], Collection[str]], Collection[str]]
"""Returns the nodes that a changed column of some nodes can reach, these included, given the earlier manifest and what
differs from it."""


@dataclass(frozen=True)
class SelectionContext:
    """What a selection needs to know besides the graph.

    `state_dir` holds the artifacts of an earlier command (--state), `selectors` are named selections.
    """

    root: Path
    state_dir: Path | None = None
    selectors: Mapping[str, Selector] = field(default_factory=dict)
    indirect: Indirect = "eager"
    """Which tests come along with what is selected."""
    project_files: tuple[str, ...] = ("pyproject.toml", "profiles.yml")
    """Files relative to `root` that concern every node: when one has changed, `git:` selects them all."""
    states_of_tables: Mapping[str, Callable[[], Collection[str]]] = field(default_factory=dict)
    """What returns the nodes of a value of `state:` that asks the tables and no earlier manifest. A value that is
    missing is not known here."""
    column_reach: ColumnReach | None = None
    """Returns what changed columns can reach (--columns); None: all that is downstream counts."""


class Lookup:
    """What methods look into: the graph, and an earlier state and git's answers, each read once, when first needed.

    `warnings` collects what the methods have to say of parts that match nothing.
    """

    def __init__(self, graph: Graph, context: SelectionContext) -> None:
        self.graph = graph
        self.context = context
        self.warnings: list[Problem] = []
        self._changes: dict[str, frozenset[str]] = {}
        self._of_tables: dict[str, frozenset[str]] = {}

    def ids(self, matches: Callable[[Node], bool]) -> set[str]:
        """The ids of the nodes for which `matches` holds."""
        return {unique_id for unique_id, node in self.graph.nodes.items() if matches(node)}

    def warn_if_empty(self, criterion: Criterion, ids: set[str], candidates: Iterable[str]) -> set[str]:
        """`ids`, with a warning where it is empty; `candidates` are the values that would have matched something."""
        if not ids:
            self.warnings.append(nothing_selected(criterion.text, did_you_mean(criterion.value, set(candidates))))
        return ids

    @cached_property
    def changes(self) -> Mapping[str, frozenset[Change]]:
        """In what each node differs from the earlier manifest."""
        return changes(self.graph, self._manifest)

    def column_reach(self, ids: Collection[str]) -> Collection[str] | None:
        """What a changed column of some nodes can reach; None where all that is downstream counts."""
        reach = self.context.column_reach
        return None if reach is None else reach(self._manifest, self.changes, ids)

    @cached_property
    def _manifest(self) -> Mapping[str, Any]:
        return read_manifest(self._state_dir("state"))

    @cached_property
    def results(self) -> Mapping[str, str]:
        """The status of each node in the earlier run."""
        return read_results(self._state_dir("result"))

    def state_of_tables(self, state: str) -> frozenset[str]:
        """The nodes of a value of `state:` that asks the tables."""
        if state not in self._of_tables:
            ask = self.context.states_of_tables.get(state)
            if ask is None:
                hint = f"`merge-runner ls -s state:{state}` lists them"
                raise ProblemsError([Problem("no-state", f'"state:{state}" is not known to this command', hint=hint)])
            self._of_tables[state] = frozenset(ask())
        return self._of_tables[state]

    def changed_files(self, ref: str) -> frozenset[str]:
        """The files under the root that differ from a commit."""
        if ref not in self._changes:
            self._changes[ref] = changed_files(self.context.root, ref)
        return self._changes[ref]

    def _state_dir(self, method: str) -> Path:
        if self.context.state_dir is None:
            hint = "give the folder with the artifacts of an earlier command as --state"
            raise ProblemsError([Problem("no-state", f'"{method}:" has nothing to compare with', hint=hint)])
        return self.context.state_dir


def nothing_selected(text: str, hint: str | None) -> Problem:
    """The warning that part of a selection selects nothing."""
    return Problem("nothing-selected", f'the selection "{text}" does not match any enabled nodes', hint=hint)


def bad_value(criterion: Criterion, message: str, hint: str | None) -> ProblemsError:
    """The error that a criterion is written in a way that its method does not have."""
    return ProblemsError([Problem("bad-selection", f"{message} (in the selection {criterion.text})", hint=hint)])


def allowed_value(criterion: Criterion, allowed: Iterable[str]) -> str:
    """The criterion's value; ProblemsError where it is none of those that the method has."""
    allowed = tuple(allowed)
    if criterion.value not in allowed:
        close = nearest(criterion.value, allowed)
        hint = f'did you mean "{close}"?' if close else f"it takes {', '.join(allowed)}"
        raise bad_value(criterion, f'the method "{criterion.method}" has no value "{criterion.value}"', hint)
    return criterion.value
