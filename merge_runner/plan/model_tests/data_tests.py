"""What a data test runs: a query whose rows are failures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from merge_runner.errors import Problem, ProblemsError
from merge_runner.formats import DEFAULT
from merge_runner.graph.graph import DataTestNode, ModelNode, Node, RefNode
from merge_runner.graph.naming import failures_table, table_location
from merge_runner.graph.test_nodes import test_arguments
from merge_runner.merge.statement import MergeStatement
from merge_runner.merge.syntax.query_span import selects_all
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.load.query import query
from merge_runner.plan.nodes.inputs import Inputs
from merge_runner.plan.steps.model_tests import RunTest
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.plan.steps.step import Step
from merge_runner.plan.steps.table import Layout
from merge_runner.relation import Relation
from merge_runner.template.rendered_text import RenderedText
from merge_runner.testing.data_tests import data_test_query, is_narrow
from merge_runner.text import PlacedText

if TYPE_CHECKING:
    from merge_runner.pruning.judge.merge_analysis import JudgedMerge


class DataTestPlanner:
    """Makes the plans of data tests, generic and singular. `judge` judges the MERGE of a model."""

    def __init__(
        self, prepared: Prepared, inputs: Inputs, judge: Callable[[ModelNode, MergeStatement], JudgedMerge]
    ) -> None:
        self._prepared = prepared
        self._compiler = prepared.compiler
        self._root = prepared.files.root
        self._profile = prepared.files.profile
        self._inputs = inputs
        self._judge = judge

    def plan(self, node: DataTestNode) -> NodePlan:
        """The steps of a test. Raises ProblemsError."""
        config = node.config
        rendered = None
        if node.generic_test is not None:
            test = node.generic_test
            tested = self._prepared.graph.nodes[str(test.attached_node)]
            arguments = {key: self._argument(node, key, value) for key, value in test.kwargs.items()}
            where = self._text(node, "where", config.where) if config.where else None
            relation = self._compiler.tested_relation(tested.unique_id)
            if self._prepared.templates.has_test(test.name):
                own = self._own_test(node, relation, arguments, where)
                sql = query(own)
                narrow = not selects_all(sql)
            else:
                narrow = is_narrow(test.name)
                try:
                    sql = data_test_query(test.name, relation, test.column, arguments, where)
                except ValueError as error:
                    raise ProblemsError([Problem("invalid-value", f"{node.name}: {error}", node.place)]) from None
        else:
            rendered = self._compiler.render(node.unique_id)
            sql = rendered.text
            narrow = not selects_all(query(rendered))
        tested_query = sql if rendered is None else query(rendered)
        store = self._failures_layout(node) if config.store_failures else None
        steps: tuple[Step, ...] = (
            self._inputs.attach(node.depends_on),
            RunTest(
                tested_query,
                config.severity,
                config.limit,
                config.fail_calc or "count(*)",
                config.error_if or "!= 0",
                config.warn_if or "!= 0",
                store,
                narrow,
            ),
        )
        return NodePlan(node.unique_id, steps, rendered, sql, store.relation if store is not None else None)

    def _own_test(
        self, node: DataTestNode, model: Relation, arguments: Mapping[str, Any], where: str | None
    ) -> RenderedText:
        """A test of the project, rendered. Raises ProblemsError at the test's macro, or where it is used."""
        assert node.generic_test is not None
        if where is not None:
            model = Relation(model.identifier, sql=f"(SELECT * FROM {model} WHERE {where})")
        values = test_arguments(node.generic_test, model, arguments)
        return self._compiler.test(node, PlacedText(f"{node.path} ({node.name})", "", node.place), values)

    def _failures_layout(self, node: DataTestNode) -> Layout:
        """The table for the failing rows of a test: of the format of what it tests, in a catalog of that one."""
        relation = failures_table(self._profile, node.name)
        nodes = (self._prepared.graph.nodes[parent] for parent in node.depends_on)
        same_catalog = (
            tested for tested in nodes if tested.relation is not None and tested.relation.catalog == relation.catalog
        )
        formats = (tested.config.format for tested in same_catalog if isinstance(tested, RefNode))
        format = next(formats, DEFAULT) if relation.catalog is not None else DEFAULT
        return Layout(relation, format, table_location(self._root, self._profile, relation, format))

    def _argument(self, node: Node, name: str, value: Any) -> Any:
        """Return an argument of a test; the id of a node gives its relation."""
        if not isinstance(value, str):
            return value
        return (
            self._compiler.tested_relation(value)
            if value in self._prepared.graph.nodes
            else self._text(node, name, value)
        )

    def _text(self, node: Node, name: str, text: str) -> str:
        """A text of a test with its Jinja rendered."""
        return self._compiler.snippet(node, PlacedText(f"{node.path} ({name})", text, node.place)).text
