"""The column lineage of each model, with the tables that its SQL names; found when it is asked for, once."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.errors import Problem, ProblemsError
from merge_runner.graph.graph import ModelNode, Node
from merge_runner.lineage.edge import Input, Table, TableLineage, Unresolved
from merge_runner.lineage.merge import merge_lineage, query_lineage
from merge_runner.merge.statement import MergeStatement
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.load.project_context import Prepared
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.template.rendered_text import RenderedText
from merge_runner.text import Place


@dataclass(frozen=True)
class UnresolvedInput:
    """What cannot be said of a model, or of one of its columns: why, and where in the author's file.

    `is_error`: the model cannot be read at all.
    """

    model: str
    column: str | None
    reason: str
    place: Place | None = None
    is_error: bool = False


@dataclass(frozen=True)
class LineageColumn:
    """A column of a merge, table or view model. `relation` is the name of the model's table or view.

    `value_inputs` are the columns that its values come from, with the conditions of these; `rows` decide which rows
    there are, and are the same for all columns of the model.
    """

    unique_id: str
    model: str
    relation: str
    column: str
    value_inputs: tuple[Input, ...]
    rows: tuple[Input, ...]

    @property
    def inputs(self) -> tuple[Input, ...]:
        """All that it depends on."""
        return tuple(sorted({*self.value_inputs, *self.rows}))


@dataclass(frozen=True)
class ModelLineage:
    """The columns of a model. `rows` decide which rows its table has."""

    node: ModelNode
    relation: str
    table: TableLineage
    unresolved: tuple[UnresolvedInput, ...] = ()

    @property
    def columns(self) -> tuple[LineageColumn, ...]:
        """Its columns in their order."""
        node, rows = self.node, self.table.rows
        return tuple(
            LineageColumn(node.unique_id, node.name, self.relation, column.column, column.inputs, rows)
            for column in self.table.columns
        )


def has_lineage(node: Node) -> bool:
    """Whether a node is a model whose columns have lineage: an ephemeral model is seen through."""
    return isinstance(node, ModelNode) and node.materialized != "ephemeral"


class ModelLineages:
    """The lineage of the models of a project."""

    def __init__(self, prepared: Prepared, layouts: Layouts) -> None:
        self._prepared = prepared
        self._layouts = layouts
        self._lineages: dict[str, ModelLineage] = {}
        self._tables: dict[str, Table] = {}

    def of(self, unique_id: str) -> ModelLineage:
        """The lineage of a merge, table or view model; one that cannot be read has its problems as `unresolved`."""
        if unique_id not in self._lineages:
            self._lineages[unique_id] = self._lineage_of(self._prepared.graph.model(unique_id))
        return self._lineages[unique_id]

    def of_statement(self, unique_id: str, statement: MergeStatement) -> TableLineage:
        """The lineage of one of the MERGEs that a model may run."""
        return merge_lineage(statement, self.table(unique_id), self._find_table)

    def table(self, unique_id: str) -> Table:
        """A model, seed or source as the SQL of others sees it."""
        if unique_id not in self._tables:
            node = self._prepared.graph.nodes[unique_id]
            names = self._layouts.names(unique_id)
            layout = self._layouts.of(unique_id)
            name = node.relation.name if node.relation is not None else node.name
            self._tables[unique_id] = _as_table(name, layout, names)
        return self._tables[unique_id]

    def _find_table(self, parts: tuple[str, ...]) -> Table | None:
        """The table that a name in rendered SQL means; None where nothing is known of it."""
        unique_id = self._layouts.node_named(parts)
        table = self._layouts.lookup(parts)
        if unique_id is not None and (table is None or not table.fixed):
            return self.table(unique_id)
        name = self.table(unique_id).name if unique_id is not None else ".".join(parts)
        return _as_table(name, table.layout, None) if table is not None else None

    def _lineage_of(self, node: ModelNode) -> ModelLineage:
        own = self.table(node.unique_id)
        compiler = self._prepared.compiler
        try:
            rendered = compiler.render(node.unique_id)
            if node.materialized == "merge":
                lineage = merge_lineage(compiler.merge(node.unique_id), own, self._find_table)
            else:
                lineage = query_lineage(rendered.text, self._find_table, own)
        except ProblemsError as error:
            return ModelLineage(
                node, own.name, TableLineage(()), tuple(_gap_of(node, problem) for problem in error.problems)
            )
        gaps = [_place_gap(node, None, gap, rendered) for gap in lineage.unresolved]
        for column in lineage.columns:
            gaps += [_place_gap(node, column.column, gap, rendered) for gap in column.unresolved]
        return ModelLineage(node, own.name, lineage, tuple(gaps))


def _as_table(name: str, layout: TableLayout, names: tuple[str, ...] | None) -> Table:
    columns = tuple(column.name for column in layout.columns or ())
    generated = tuple((column.name, column.generated) for column in layout.columns or () if column.generated)
    if names is not None:
        return Table(name, names, True, generated)
    return Table(name, columns, layout.complete, generated)


def _gap_of(node: ModelNode, problem: Problem) -> UnresolvedInput:
    return UnresolvedInput(node.name, None, problem.message, problem.place or node.place, is_error=True)


def _place_gap(node: ModelNode, column: str | None, gap: Unresolved, rendered: RenderedText) -> UnresolvedInput:
    place = rendered.place(gap.span.start, gap.span.end) if gap.span is not None else node.place
    return UnresolvedInput(node.name, column, gap.reason, place)
