"""Shows some rows of models, seeds, sources and analyses, or of a query of the command line; nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.driver.driver_source import DriverSource
from merge_runner.engine.operation import Statements, changed_rows, first_rows
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.graph.graph import AnalysisNode, ModelNode, Node, SeedNode, SourceNode, run_config
from merge_runner.merge.statement import Clause
from merge_runner.plain_json import plain
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.load.query import query
from merge_runner.plan.nodes.inputs import Inputs
from merge_runner.plan.plan import Planner, asked_first
from merge_runner.plan.steps.inputs import AttachInputs, Input
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.table import CreateTarget
from merge_runner.run.execution.driver_scope import driving
from merge_runner.run.node.outcome import error_place
from merge_runner.run.node.text_on_engine import asking, attacher, engine_problems
from merge_runner.run.results.events import Events
from merge_runner.template.operation.table import Table
from merge_runner.template.rendered_text import RenderedText
from merge_runner.testing.failing_rows import table_lines
from merge_runner.text import Place


@dataclass(frozen=True)
class Preview:
    """Some rows of a node, or of a query that is none's (`name` is None)."""

    name: str | None
    table: Table
    changes: tuple[tuple[Clause, Table], ...] = ()
    """Of a merge model instead: rows that each clause would change, as they would be; deleted ones as they are."""

    def as_json(self) -> dict[str, Any]:
        """Return it as dbt has it: `node` and `show`, the rows by column; a MERGE has `changes`, a `show` by clause."""
        name: dict[str, Any] = {} if self.name is None else {"node": self.name}
        if not self.changes:
            return {**name, "show": _rows(self.table)}
        changes = [{"action": clause.action, "when": clause.kind, "show": _rows(rows)} for clause, rows in self.changes]
        return {**name, "changes": changes}

    def lines(self, width: int) -> Iterator[str]:
        """Yield a line with the name, then the rows as a table of `width` characters; so for each clause of a MERGE."""
        name = self.name or "the query"
        for clause, rows in self.changes:
            yield from _lines(f"{name}: when {clause.kind.replace('_', ' ')}, {clause.action}", rows, width)
        if not self.changes:
            yield from _lines(name, self.table, width)


@dataclass(frozen=True)
class _Query:
    """A query to be shown: the node it is of, what it reads, and where an offset of it is in the author's file."""

    node: Node | None
    text: str
    inputs: tuple[Input, ...]
    rendered: RenderedText | None = None

    def place(self, error: EngineError) -> Place | None:
        """Return where the engine's error is."""
        if error.place is not None or self.rendered is None or error.statement is None or error.offset is None:
            return error.place
        start = error.offset - error.statement.find(self.text)
        within = self.rendered.text.find(self.text)
        return self.rendered.place(within + start) if 0 <= start < len(self.text) and within >= 0 else None


@dataclass(frozen=True)
class _Asks:
    """A text that asks the engine before it is known: that of a node, or of the command line."""

    node: Node | None
    inline: str = ""


def show(
    prepared: Prepared,
    ids: Sequence[str],
    inline: str | None,
    limit: int,
    events: Events,
    source: DriverSource,
) -> tuple[Preview, ...]:
    """Return up to `limit` rows of each of the nodes, or of the query `inline`.

    Raises ProblemsError where something cannot be shown; nothing has been queried where that is known before.
    """
    queries = [_inline(prepared, inline)] if inline is not None else _of_nodes(prepared, ids)
    if not queries:
        return ()
    with driving(prepared, events, source) as running:
        catalog = Catalog(running.table_format)
        runnable = (
            _ask_engine(prepared, query, running, catalog) if isinstance(query, _Asks) else query for query in queries
        )
        return tuple(
            _changes(prepared, query, limit, running, catalog)
            if isinstance(query, NodePlan)
            else _preview(prepared, query, limit, running, catalog)
            for query in runnable
        )


def _inline(prepared: Prepared, text: str, operation: Statements | None = None) -> _Query | _Asks:
    read_ids: list[str] = []
    attach = attacher(prepared, operation) if operation is not None else lambda _: None

    def on_read(unique_id: str) -> None:
        read_ids.append(unique_id)
        attach(unique_id)

    try:
        rendered = prepared.compiler.inline(text, on_read, operation)
    except ProblemsError as error:
        asked_first(error)
        return _Asks(None, text)
    return _Query(None, query(rendered), Inputs(prepared).attach(read_ids).inputs, rendered)


def _of_nodes(prepared: Prepared, ids: Iterable[str]) -> list[_Query | NodePlan | _Asks]:
    """Return the queries of the nodes that have one, and the plans of MERGEs: tests have none. Raises ProblemsError."""
    queries: list[_Query | NodePlan | _Asks] = []
    problems, planner = Problems(), Planner(prepared)
    for unique_id in ids:
        with problems.collecting():
            query = _of_node(prepared, prepared.graph.nodes[unique_id], planner)
            if query is not None:
                queries.append(query)
    problems.check()
    return queries


def _of_node(prepared: Prepared, node: Node, planner: Planner) -> _Query | NodePlan | _Asks | None:
    try:
        query_or_plan = planner.plan(node.unique_id) if node.materialized == "merge" else _query_of(prepared, node)
    except ProblemsError as error:
        asked_first(error)
        return _Asks(node)
    return _Asks(node) if isinstance(query_or_plan, NodePlan) and query_or_plan.asks is not None else query_or_plan


def _ask_engine(prepared: Prepared, asks: _Asks, driver: Driver, catalog: Catalog) -> _Query | NodePlan:
    """Return the query or MERGE of a text that asks the engine, once it has been asked. Raises ProblemsError."""
    node = asks.node
    with driver.session({} if node is None else _confs(node)) as session:
        statements = Statements(session, catalog, prepared.on_log, queries_only=prepared.flags.queries_only)
        try:
            with engine_problems(statements):
                if node is None:
                    query_or_plan: _Query | NodePlan | _Asks | None = _inline(prepared, asks.inline, statements)
                else:
                    with asking(prepared, node.unique_id, statements) as project:
                        query_or_plan = _of_node(project, node, Planner(project))
        except EngineError as error:
            problem = Problem(error.code, error.message, error.place, error.hint)
            raise ProblemsError([_conceal(problem, prepared.conceal)]) from error
    assert query_or_plan is not None
    assert not isinstance(query_or_plan, _Asks), "it has asked"
    return query_or_plan


def _query_of(prepared: Prepared, node: Node) -> _Query | None:
    inputs, compiler = Inputs(prepared), prepared.compiler
    if isinstance(node, SeedNode | SourceNode):
        relation = compiler.relation(node.unique_id)
        return _Query(node, f"SELECT * FROM {relation}", inputs.attach([node.unique_id]).inputs)
    if isinstance(node, AnalysisNode):
        rendered = compiler.render(node.unique_id)
        return _Query(node, query(rendered), inputs.attach(node.depends_on).inputs, rendered)
    if not isinstance(node, ModelNode):
        return None
    rendered = compiler.render(node.unique_id)
    return _Query(node, query(rendered), inputs.attach(compiler.read_by(node)).inputs, rendered)


def _preview(prepared: Prepared, rows_query: _Query, limit: int, driver: Driver, catalog: Catalog) -> Preview:
    confs = {} if rows_query.node is None else _confs(rows_query.node)
    with driver.session(confs) as session:
        try:
            for item in rows_query.inputs:
                catalog.attach(session, item)
            table = first_rows(session, rows_query.text, limit)
        except EngineError as error:
            problem = Problem(error.code, error.message, rows_query.place(error), error.hint)
            raise ProblemsError([_conceal(problem, prepared.conceal)]) from error
    return Preview(rows_query.node.name if rows_query.node is not None else None, table)


def _changes(prepared: Prepared, plan: NodePlan, limit: int, driver: Driver, catalog: Catalog) -> Preview:
    """Return rows that each clause of a MERGE would change now; its hooks are not run."""
    node = prepared.graph.nodes[plan.unique_id]
    with driver.session(_confs(node)) as session:
        try:
            for item in (item for step in plan.steps if isinstance(step, AttachInputs) for item in step.inputs):
                catalog.attach(session, item)
            create = next((step for step in plan.steps if isinstance(step, CreateTarget)), None)
            is_built = create is not None and catalog.adopt(session, create.layout)
            changes = tuple(changed_rows(session, _merge_to_show(node, plan, is_built=is_built), limit))
        except EngineError as error:
            problem = Problem(error.code, error.message, error_place(error, plan, node), error.hint)
            raise ProblemsError([_conceal(problem, prepared.conceal)]) from error
    return Preview(node.name, Table(), changes)


def _merge_to_show(node: Node, plan: NodePlan, *, is_built: bool) -> RunMerge:
    """Return the MERGE of a plan. Raises EngineError where its rows cannot be shown."""
    merge = next((step for step in plan.steps if isinstance(step, RunMerge)), None)
    if merge is None or merge.feed is not None:
        message = f"{node.name} reads `changes(…)`, or raises an error where its table exists: its rows cannot be shown"
        raise EngineError("not-shown", message, place=node.place)
    if not is_built:
        message = f"{merge.target.name} has not been built yet"
        raise EngineError("missing-input", message, "build it first: `show` compares with its rows", place=node.place)
    return merge


def _confs(node: Node) -> dict[str, str]:
    return {} if isinstance(node, SourceNode) else dict(run_config(node).conf)


def _conceal(problem: Problem, conceal: Callable[[str], str]) -> Problem:
    return Problem(
        problem.code, conceal(problem.message), problem.place, conceal(problem.hint) if problem.hint else None
    )


def _lines(title: str, rows: Table, width: int) -> Iterator[str]:
    yield f"{title}: {len(rows)} row{'' if len(rows) == 1 else 's'}"
    if rows:
        yield from table_lines([row.dict() for row in rows], width)


def _rows(table: Table) -> list[dict[str, Any]]:
    return [plain(row.dict()) for row in table]
