"""The given rows of a unit test: which input of its model each of them belongs to."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator

from merge_runner.errors import did_you_mean
from merge_runner.graph.graph import Graph, ModelNode, Node, SourceNode
from merge_runner.plan.layout.table_layout import own_relation
from merge_runner.project.schema.unit_test import Given
from merge_runner.project.syntax.places import KeyPath

_INPUT = re.compile(
    r"""\s*(?P<kind>ref|source|changes)\(\s*['"](?P<first>[^'"]+)['"]\s*(?:,\s*['"](?P<second>[^'"]+)['"]\s*)?\)\s*"""
)
_THIS = "this"

Fault = Callable[[str, str | None, KeyPath], None]
"""Reports what does not fit the model: a message, a hint or None, and the path of the value in the test."""


class UnitTestInputs:
    """The rows of a test by the input that they replace; `fault` is called with what does not fit the model.

    `read_by` returns the parents that the kind of run under test reads: of others no rows need to be given.

    `rows` are by the id of a node, those of a change feed by `changes:` and the id; `this` are those of the target.
    `numbers` are the indexes of all of them in `given`; that of the target is under `this`.
    """

    def __init__(self, graph: Graph, model: Node, fault: Fault, read_by: Callable[[], Collection[str]]) -> None:
        self._nodes = graph.nodes
        self._model = model
        self._fault = fault
        self._read_by = read_by
        self.rows: dict[str, Given] = {}
        self.this: Given | None = None
        self.numbers: dict[str, int] = {}

    def read(self, rows: Iterable[Given]) -> None:
        """Takes all rows of a test."""
        ids = {name: unique_id for unique_id, name in self._readable()}
        for number, given in enumerate(rows):
            at: KeyPath = ("given", number, "input")
            if given.input.strip() == _THIS:
                self._read_this(given, number)
                continue
            name = _normal(given.input)
            if name not in ids:
                message = f"gives rows of {given.input}, which {self._model.name} does not read"
                self._fault(message, did_you_mean(name or given.input, ["this", *ids]), at)
            elif ids[name] in self.rows:
                self._fault(f"gives rows of {given.input} twice", None, at)
            else:
                self.rows[ids[name]] = given
                self.numbers[ids[name]] = number
        for name in self.missing(self._read_by()):
            hint = f'add "{{input: {name}, rows: []}}" to "given": no rows may be meant'
            self._fault(f"gives no rows of {name}", hint, ("given",))

    @property
    def gives_target_rows(self) -> bool:
        """Whether the test gives rows of `this`."""
        return self.this is not None and bool(self.this.rows or self.this.fixture)

    def _read_this(self, given: Given, number: int) -> None:
        at: KeyPath = ("given", number, "input")
        if self._model.materialized != "merge":
            kind = self._model.materialized
            self._fault(f"{self._model.name} is a {kind}, and does not read `this`", None, at)
        elif self.this is not None:
            self._fault("gives rows of this twice", None, at)
        self.this = given
        self.numbers[_THIS] = number

    def _readable(self) -> Iterator[tuple[str, str]]:
        """What the model reads, and what its ephemeral parents do: keys of `given`, and how a test names them."""
        seen = {self._model.unique_id}
        waiting = [self._model]
        while waiting:
            node = waiting.pop()
            for parent in (self._nodes[parent_id] for parent_id in node.depends_on):
                if isinstance(node, ModelNode) and node.changes_of == parent.unique_id:
                    yield f"changes:{parent.unique_id}", f"changes('{parent.name}')"
                if parent.unique_id in seen or self._is_this(parent):
                    continue
                seen.add(parent.unique_id)
                yield parent.unique_id, input_name(parent)
                if parent.materialized == "ephemeral":
                    waiting.append(parent)

    def _is_this(self, node: Node) -> bool:
        """Whether a node is another writer of the model's own table: its rows are those of `this`."""
        own = own_relation(self._model).name.casefold()
        return node.relation is not None and node.relation.name.casefold() == own

    def missing(self, parents_read: Collection[str]) -> Iterator[str]:
        """Yield what a statement with the parents `read` reads and the test does not give: no ephemeral model."""
        seen = {self._model.unique_id}
        waiting = [self._model]
        while waiting:
            node = waiting.pop()
            parents = parents_read if node is self._model else node.depends_on
            for parent in (self._nodes[parent_id] for parent_id in parents):
                if parent.unique_id in seen or parent.unique_id in self.rows or self._is_this(parent):
                    continue
                seen.add(parent.unique_id)
                if parent.materialized == "ephemeral":
                    waiting.append(parent)
                elif not isinstance(node, ModelNode) or node.changes_of != parent.unique_id:
                    yield input_name(parent)
                elif f"changes:{parent.unique_id}" not in self.rows:
                    yield f"changes('{parent.name}')"


def input_name(node: Node) -> str:
    """How a unit test names what a model reads: as its template does."""
    if isinstance(node, SourceNode):
        return f"source('{node.source_name}', '{node.name}')"
    return f"ref('{node.name}')"


def _normal(text: str) -> str | None:
    """An input as `input_name` writes it; None where it is no call. The package of a ref does not count."""
    call = _INPUT.fullmatch(text.strip().removeprefix("{{").removesuffix("}}"))
    if call is None:
        return None
    kind, first, second = call["kind"], call["first"], call["second"]
    if kind == "source":
        return f"source('{first}', '{second}')" if second is not None else None
    return f"{kind}('{second or first}')"
