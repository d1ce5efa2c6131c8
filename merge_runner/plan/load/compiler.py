"""Renders the nodes of a graph, each once, with the relations that it names; ephemeral models are inlined."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from merge_runner.errors import Problem, ProblemsError, did_you_mean
from merge_runner.graph.captures import check_config
from merge_runner.graph.graph import DataTestNode, Graph, ModelNode, Node, SourceNode, run_config
from merge_runner.graph.invocation import Invocation
from merge_runner.merge.parse import parse
from merge_runner.merge.statement import MergeStatement
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.plan.batches.batch_values import NodeBatch, batch_values, event_time_of
from merge_runner.plan.load.asking import EngineAccess
from merge_runner.plan.load.defer import Deferral
from merge_runner.plan.load.query import query
from merge_runner.plan.load.sample import Sample
from merge_runner.project.load.files import ProjectFiles
from merge_runner.reads import NEVER, Question, Reads, RecordedMapping
from merge_runner.relation import Relation
from merge_runner.template.capture import Ref, SourceRef
from merge_runner.template.context import Context, model_values
from merge_runner.template.rendered_text import Log, RenderedText
from merge_runner.template.templates import Templates
from merge_runner.text import PlacedText, SourceText

if TYPE_CHECKING:
    from merge_runner.template.operation.table import Operation
    from merge_runner.template.relation_column import RelationColumn


class Compiler:
    """Compiled texts of one invocation, made when they are asked for. Safe for many threads."""

    def __init__(
        self,
        files: ProjectFiles,
        templates: Templates,
        graph: Graph,
        invocation: Invocation,
        deferral: Deferral,
        on_log: Callable[[Log], None],
        reads: Reads,
        sample: Sample | None = None,
        asking: EngineAccess | None = None,
        batch: NodeBatch | None = None,
    ) -> None:
        self._files = files
        self._templates = templates
        self._graph = graph
        self._invocation = invocation
        self._deferral = deferral
        self._on_log = on_log
        self._reads = reads
        self._sample = sample
        self._asking = asking
        self._batch = batch
        self._questions: dict[str, set[Question]] = {}
        """What each rendered text was made of."""
        self._texts: dict[str, RenderedText] = {}
        self._problems: dict[str, tuple[Problem, ...]] = {}
        self._open: set[str] = set()
        """What is just being rendered."""
        self.known_columns: Callable[[str], Sequence[RelationColumn] | None] = lambda _unique_id: None
        """Returns the columns of a node in their order, None where they are not all known: Layouts sets it."""
        self.lock = threading.RLock()
        """Layouts takes the same: each asks the other."""

    def render(self, unique_id: str) -> RenderedText:
        """The compiled text of a model or a singular test. Raises ProblemsError."""
        with self.lock:
            if unique_id in self._open:  # it asks for the columns of what depends on it
                raise ProblemsError(
                    [Problem("unknown-columns", "they depend on this text", self._graph.nodes[unique_id].place)]
                )
            if unique_id in self._problems:
                self._reads.note([NEVER])
                raise ProblemsError(self._problems[unique_id])
            if unique_id in self._texts:
                self._reads.note(self._questions[unique_id])
                return self._texts[unique_id]
            node = self._graph.nodes[unique_id]
            with self._reads.collected() as self._questions[unique_id]:
                self._open.add(unique_id)
                try:
                    source = SourceText(node.path, node.raw_code)
                    resolve = self.read_relation if isinstance(node, ModelNode) else self.tested_relation
                    self._texts[unique_id] = self._render(node, source, self._context(node, resolve))
                except ProblemsError as error:
                    # An ephemeral model may be inlined in many: each would try again, and so would theirs.
                    self._problems[unique_id] = error.problems
                    self._reads.note([NEVER])
                    raise
                finally:
                    self._open.discard(unique_id)
            return self._texts[unique_id]

    def forget(self) -> None:
        """Leave what was rendered to be rendered again, of a project whose texts are too many to keep."""
        with self.lock:
            self._texts.clear()
            self._questions.clear()

    def snippet(self, node: Node, text: PlacedText) -> RenderedText:
        """Return a hook or another text in a config, rendered as part of its node. Raises ProblemsError."""
        return self._render(node, text)

    def variant(self, node: Node, text: SourceText, change: Callable[[Context], Context]) -> RenderedText:
        """Return another text of a node, rendered in its context with a change. Raises ProblemsError."""
        return self._templates.render(text, change(self._context(node)))

    def test(self, node: Node, caller: PlacedText, arguments: Mapping[str, Any]) -> RenderedText:
        """Return the query of a data test of the project, all of it at the place that uses it. Raises ProblemsError."""
        name = node.generic_test.name if isinstance(node, DataTestNode) and node.generic_test else node.name
        context = self._context(node, self.tested_relation)
        text = self._templates.render_test(name, context, caller, arguments)
        return RenderedText.plain(PlacedText(caller.path, text, caller.at))

    def read_by(self, node: ModelNode) -> Sequence[str]:
        """Return the parents that this kind of run reads: what another kind alone reads need not be there.

        Raises ProblemsError for Jinja that cannot be rendered.
        """
        if not node.differs_by_run:
            return node.depends_on
        hooks = [SourceText(node.path, text) for text in (*node.config.pre_hook, *node.config.post_hook)]
        capture, context = self._templates.capture, self._context(node)
        captured = [self.render(node.unique_id).captured, *(capture(hook, context) for hook in hooks)]
        names = {ref.name for capture in captured for ref in capture.refs}
        sources = {(source.source, source.table) for capture in captured for source in capture.sources}
        nodes = self._graph.nodes

        def is_read(parent: Node) -> bool:
            if isinstance(parent, SourceNode):
                return (parent.source_name, parent.name) in sources
            return parent.name in names

        return [parent for parent in node.depends_on if is_read(nodes[parent])]

    def _render(self, node: Node, source: SourceText, context: Context | None = None) -> RenderedText:
        self._reads.note(("macros", path) for path in self._templates.reachable_files(source.text))
        context = context or self._context(node)
        rendered = self._templates.render(source, context)
        if context.operation is not None:
            check_config(self._templates.capture(source, replace(context, operation=None)), rendered.captured)
        for log in rendered.logs:
            self._on_log(log)
        return rendered

    def parse_merge(self, unique_id: str) -> MergeStatement:
        """Parse the MERGE of a model, again on each call: the trees of a large project take much memory.

        Raises ProblemsError for its Jinja, MergeSyntaxError where Spark would not parse it.
        """
        return parse(self.render(unique_id).text)

    def merge(self, unique_id: str) -> MergeStatement:
        """The MERGE of a merge model. Raises ProblemsError where Spark would not parse it, at the author's place."""
        try:
            return self.parse_merge(unique_id)
        except MergeSyntaxError as error:
            place = self.render(unique_id).place(error.span.start, error.span.end)
            raise ProblemsError([Problem("not-a-merge", error.message, place, error.hint)]) from None

    def relation(self, unique_id: str) -> Relation:
        """Return how a node is named in the SQL of others: an ephemeral model by its query in parentheses."""
        if unique_id in self._deferral.ids:
            return self._deferral.nodes[unique_id].relation
        node = self._graph.nodes[unique_id]
        if node.relation is None:
            raise LookupError(f"{node.name} has no relation")
        if node.materialized != "ephemeral":
            return node.relation
        # The closing parenthesis is on a separate line: the query may end in a comment.
        return Relation(node.relation.identifier, sql=f"(\n{query(self.render(unique_id))}\n)")

    def read_relation(self, unique_id: str) -> Relation:
        """Return how the text of a model names what it reads: in a sampled run, those of its rows alone.

        The window of a sample applies to what a view reads, and no sampled run changes a view: its query is inlined.
        """
        relation, sample = self.relation(unique_id), self._sample
        if sample is None:
            return relation
        node = self._graph.nodes[unique_id]
        if node.materialized == "view" and unique_id not in self._deferral.ids and not sample.is_empty:
            relation = replace(relation, sql=f"(\n{query(self.render(unique_id))}\n)")
        return sample.of(relation, event_time_of(node))

    def tested_relation(self, unique_id: str) -> Relation:
        """Return how a test names what it reads: no rows with `--empty`, all rows with `--sample`, as in dbt."""
        empty = self._sample is not None and self._sample.is_empty
        return self.read_relation(unique_id) if empty else self.relation(unique_id)

    def operate(
        self, macro: str, arguments: Mapping[str, Any], operation: Operation, on_read: Callable[[str], None]
    ) -> Any:
        """Call a macro of the project whose statements `operation` executes, and return what it returns.

        `on_read` is called with the id of each node that it refers to. Raises KeyError where there is no such macro,
        and ProblemsError.
        """
        context = self._context_of_none("operation", macro, on_read)
        return self._templates.call_macro(macro, replace(context, operation=operation), **arguments)

    def inline(self, text: str, on_read: Callable[[str], None], operation: Operation | None = None) -> RenderedText:
        """Return a text of the command line, rendered: it belongs to no node. Raises ProblemsError.

        `on_read` is called with the id of each node that it refers to; `operation` executes its statements.
        """
        context = self._context_of_none("sql operation", "inline", on_read)
        return self._templates.render(SourceText("--inline", text), replace(context, operation=operation))

    def run_hook(
        self,
        source: SourceText,
        name: str,
        values: Mapping[str, Any],
        on_read: Callable[[str], None],
        operation: Operation | None = None,
    ) -> str:
        """Return the text of a hook of a run, which can name `values` as well. Raises ProblemsError.

        `on_read` is called with the id of each node that it refers to. Without an `operation` queries return no rows.
        """
        context = replace(self._context_of_none("operation", name, on_read), values=values, operation=operation)
        if operation is None:
            return self._templates.text_unanswered(source, context)
        return self._templates.render(source, context).text

    def _context_of_none(self, kind: str, name: str, on_read: Callable[[str], None]) -> Context:
        files = self._files
        context = Context(
            model_name=name,
            this=None,
            resolve_ref=self._resolve_ref,
            resolve_source=self._resolve_source,
            vars=files.vars,
            env=self._invocation.env,
            target=files.profile.target_values,
            full_refresh=self._invocation.full_refresh,
            columns=self._columns,
            model=model_values(kind, (files.settings.name, name), ""),
        )
        return self._reporting(context, on_read)

    def _reporting(self, context: Context, on_read: Callable[[str], None]) -> Context:
        """Return a context in which `on_read` is called with the id of each node that a text refers to."""

        def resolve_ref(name: str) -> Relation:
            relation = context.resolve_ref(name)
            if (unique_id := self._ref(name)) is not None:
                on_read(unique_id)
            return relation

        def resolve_source(source: str, table: str) -> Relation:
            relation = context.resolve_source(source, table)
            on_read(self._source(source, table))
            return relation

        return replace(context, resolve_ref=resolve_ref, resolve_source=resolve_source)

    def _ref(self, name: str) -> str | None:
        """Return the id of the model or seed of a name; None where there is none."""
        ids = (f"{kind}.{self._files.settings.name}.{name}" for kind in ("model", "seed"))
        return next((unique_id for unique_id in ids if unique_id in self._graph.nodes), None)

    def _source(self, source: str, table: str) -> str:
        return f"source.{self._files.settings.name}.{source}.{table}"

    def _resolve_ref(self, name: str, resolve: Callable[[str], Relation] | None = None) -> Relation:
        self._reads.note([("ref", name)])
        if (unique_id := self._ref(name)) is not None:
            return (resolve or self.relation)(unique_id)
        if name in self._graph.unread:
            return Relation(name)  # the problem is in its own file
        models = [other.name for other in self._graph.nodes.values() if isinstance(other, ModelNode)]
        hint = did_you_mean(name, models)
        raise LookupError(f'there is no model or seed "{name}"' + (f": {hint}" if hint else ""))

    def _resolve_source(self, source: str, table: str, resolve: Callable[[str], Relation] | None = None) -> Relation:
        unique_id = self._source(source, table)
        self._reads.note([("node", unique_id)])
        if unique_id not in self._graph.nodes:
            raise LookupError(f'there is no source table "{source}.{table}"')
        return (resolve or self.relation)(unique_id)

    def _columns(self, call: Ref | SourceRef) -> Sequence[RelationColumn]:
        """Return the columns of what a call names. Raises LookupError where they are not all known."""
        unique_id = self._source(call.source, call.table) if isinstance(call, SourceRef) else self._ref(call.name)
        columns = self.known_columns(unique_id) if unique_id is not None and unique_id in self._graph.nodes else None
        if columns is None:
            name = f"{call.source}.{call.table}" if isinstance(call, SourceRef) else call.name
            raise LookupError(
                f"not all columns of {name} are known without Spark: declare them in YAML with data_type, or have "
                "`merge-runner debug --write-catalog` record them"
            )
        return columns

    def _context(self, node: Node, resolve: Callable[[str], Relation] | None = None) -> Context:
        files = self._files
        invocation = self._invocation
        full_refresh = is_rebuilt(node, invocation)
        self._reads.note([("node", node.unique_id)])
        context = Context(
            model_name=node.name,
            this=node.relation,
            resolve_ref=lambda name: self._resolve_ref(name, resolve),
            resolve_source=lambda source, table: self._resolve_source(source, table, resolve),
            vars=RecordedMapping(files.vars, "var", self._reads),
            env=RecordedMapping(invocation.env, "env", self._reads),
            target=files.profile.target_values,
            full_refresh=full_refresh,
            incremental=invocation.incremental and not full_refresh and node.materialized == "merge",
            config=files.described_config(node.name) if isinstance(node, ModelNode) else {},
            model=model_values(node.resource_type, node.fqn, node.path),
            macros=invocation.macros,
            columns=self._columns,
            batch=batch_values(node, self._batch) if isinstance(node, ModelNode) else None,
        )
        asking = self._asking
        if asking is None or (operation := asking.operation_of(node.unique_id)) is None:
            return context

        def on_read(unique_id: str) -> None:
            """Have the next statement find a node. Raises LookupError for one that may be built at the same time."""
            if unique_id != node.unique_id and unique_id not in node.depends_on:
                name = self._graph.nodes[unique_id].full_name
                comment = "-- depends_on: {{ ref('…') }}"
                raise LookupError(
                    f"{node.name} names {name} because of what a query returns, and its dependencies are known "
                    f"before: write the comment {comment} with it"
                )
            asking.on_read(unique_id)

        return self._reporting(replace(context, operation=operation), on_read)


def is_rebuilt(node: Node, invocation: Invocation) -> bool:
    """Return whether a full refresh is asked of a node; a model with `full_refresh: false` keeps its table."""
    return invocation.full_refresh and run_config(node).full_refresh is not False
