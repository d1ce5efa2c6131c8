"""The layouts of a project's tables and what a name in its SQL means, from what is written and recorded."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.errors import Problems, ProblemsError
from merge_runner.formats.registry import table_format_of
from merge_runner.formats.target_subqueries import FILES
from merge_runner.graph.graph import ModelNode, Node, RefNode, SeedNode, SourceNode, nodes_of, run_config
from merge_runner.graph.model_text import OlderRows
from merge_runner.graph.streams import is_stream
from merge_runner.merge.read_query import read_query
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.plan.batches.batch_values import event_time_of
from merge_runner.plan.layout.answers import EPHEMERAL, Answers, named_table, node_read, writers_of
from merge_runner.plan.layout.combined_layout import common_layout, over_recorded
from merge_runner.plan.layout.declared_schema import DeclaredSchema, declared_schema, seed_header, type_of
from merge_runner.plan.layout.layout_file import Namespace, RecordedLayouts, recorded_layouts
from merge_runner.plan.layout.table_names import ChangesOf, TableNames
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.load.query import query
from merge_runner.project.schema.config import ModelConfig, Optimize
from merge_runner.project.schema.layout_file import RECORDED
from merge_runner.project.schema.profile import Profile
from merge_runner.project_file import Boundary
from merge_runner.pruning.layout.layout import (
    UNKNOWN,
    PartitionField,
    TableColumn,
    TableLayout,
    partition_field,
    sorted_columns,
)
from merge_runner.pruning.layout.table_properties import with_properties
from merge_runner.pruning.query.query_facts import query_facts
from merge_runner.pruning.query.read_using import inserted_columns, source_facts
from merge_runner.pruning.query.source import KnownTable
from merge_runner.reads import NEVER, Question
from merge_runner.template.relation_column import RelationColumn

if TYPE_CHECKING:
    from sqlglot import exp


_TEXT_FORMATS = ("csv", "json", "xml")
"""Files without types of their own: the declared ones are used to read them (engine/tables/catalog.py)."""
_BATCH_COLUMNS = (
    TableColumn("_batch_id", type_of("bigint"), False),
    TableColumn("_processed_at", type_of("timestamp"), False),
)
"""What engine/stream/reader.py adds to the rows of a batch, where that is asked for."""
_OF_A_CHANGE = (("_change_type", "string"), ("_commit_version", "bigint"), ("_commit_timestamp", "timestamp"))
"""What Delta adds to the columns of a table in its change feed."""
_EVOLUTION = re.compile(r"\bwith\s+schema\s+evolution\b", re.IGNORECASE)
_AUTO_MERGE = "spark.databricks.delta.schema.automerge.enabled"


def namespace(profile: Profile) -> Namespace:
    """How names are completed where a project runs."""
    return Namespace(profile.schema, profile.conf.get("spark.sql.defaultCatalog", "spark_catalog"))


def project_layout_files(prepared: Prepared, layout: Path | None) -> tuple[tuple[Path, str], ...]:
    """The layout files of a project with their names in places: the recorded catalog, then that of --layout."""
    recorded = prepared.files.root / RECORDED
    files = [(recorded, RECORDED)] if os.path.lexists(recorded) else []
    return (*files, (layout, str(layout))) if layout is not None else tuple(files)


def load_recorded(prepared: Prepared, layout: Path | None = None) -> RecordedLayouts:
    """Return what the recorded catalog of a project and the file of --layout have. Raises ProblemsError."""
    problems = Problems()
    files = project_layout_files(prepared, layout)
    recorded = recorded_layouts(files, namespace(prepared.files.profile), problems, Boundary(prepared.files.root))
    problems.check()
    return recorded


class Layouts:
    """What is known of every table of a project. Everything is found when it is asked for, once; safe for threads."""

    def __init__(self, prepared: Prepared, recorded: RecordedLayouts | None = None) -> None:
        self._prepared = prepared
        self._compiler = prepared.compiler
        self._reads = prepared.reads
        self._table_names = TableNames(prepared, recorded or RecordedLayouts(namespace(prepared.files.profile)))
        self._tests = prepared.files.data_tests
        self.answers = Answers(prepared, self._table_names)
        """What is read while layouts are found, as it is now."""
        self._lock = prepared.compiler.lock  # a text may ask for the columns of a table, and a layout for a text
        self._compiler.known_columns = self.columns
        self._layouts: dict[str, TableLayout] = {}
        self._tables: dict[str, KnownTable] = {}
        self._inlined: dict[exp.Expr, KnownTable] | None = None
        self._questions: dict[str, set[Question]] = {}
        """What each layout, each known table and the inlined queries were made of."""
        self._in_progress: set[str] = set()
        """Nodes whose layout is just being found."""
        self._circles = 0
        """How often a layout was asked for that was just being found: what depends on it is not kept."""

    @classmethod
    def load(cls, prepared: Prepared, layout: Path | None = None) -> Layouts:
        """The layouts of a project with its recorded catalog and the file of --layout.

        Raises ProblemsError with everything that is wrong in these files.
        """
        return cls(prepared, load_recorded(prepared, layout))

    def of(self, unique_id: str) -> TableLayout:
        """The layout of a model, seed or source. A view or ephemeral model has columns and keys only."""
        with self._lock:
            layout = self._layouts.get(unique_id)
            if layout is not None:
                self._reads.note(self._questions[unique_id])
                return layout
            if unique_id in self._in_progress:
                self._circles += 1
                self._reads.note([NEVER])
                return UNKNOWN
            before = self._circles
            self._in_progress.add(unique_id)
            try:
                with self._reads.collected() as self._questions[unique_id]:
                    layout = self._find(self._prepared.graph.nodes[unique_id])
            finally:
                self._in_progress.discard(unique_id)
            if self._circles == before or not self._in_progress:
                self._layouts[unique_id] = layout
            return layout

    def forget(self) -> None:
        """Leave what was found of single tables to be found again, of a project that has too many to keep."""
        with self._lock:
            for cache_key in (*self._layouts, *(f"table {unique_id}" for unique_id in self._tables)):
                del self._questions[cache_key]
            self._layouts.clear()
            self._tables.clear()

    def recorded_older_rows(self, node: Node) -> OlderRows | None:
        """Return how many commits of a model's table an older text had made when its layout was recorded."""
        return self._table_names.recorded_older_rows(node)

    def names(self, unique_id: str) -> tuple[str, ...] | None:
        """Return the names of all columns of a model, seed or source; None where they are not all known.

        Columns that are only declared do not say that there are no others where a view or ephemeral model has a query.
        """
        layout, node = self.of(unique_id), self._prepared.graph.nodes[unique_id]
        if layout.complete:
            return tuple(column.name for column in layout.columns or ())
        if node.materialized not in ("view", "ephemeral"):
            return None
        with self._lock:
            columns, complete = self._queried(node)
        return tuple(column.name for column in columns) if complete else None

    def columns(self, unique_id: str) -> tuple[RelationColumn, ...] | None:
        """Return the same with their types, as text where these are known."""
        names = self.names(unique_id)
        if names is None:
            return None
        types_by_name = {column.name.casefold(): column.data_type for column in self._all_columns(unique_id)}
        types = (types_by_name.get(name.casefold()) for name in names)
        return tuple(
            RelationColumn(name, str(of) if of is not None else None) for name, of in zip(names, types, strict=True)
        )

    def _all_columns(self, unique_id: str) -> Sequence[TableColumn]:
        layout, node = self.of(unique_id), self._prepared.graph.nodes[unique_id]
        return layout.columns or () if layout.complete else self._queried(node)[0]

    def target(self, unique_id: str) -> TableLayout:
        """The layout of a model as the target of its MERGE.

        What is only tested to hold no NULL may be NULL there: Spark folds `coalesce` and IS NULL by the schema alone.
        """
        layout = replace(self.of(unique_id), line=self._prepared.files.profile.line)
        tested = self._declared_schema(self._prepared.graph.nodes[unique_id]).tested
        if not tested or layout.columns is None:
            return layout
        columns = [
            replace(column, nullable=True) if column.name.casefold() in tested else column for column in layout.columns
        ]
        return replace(layout, columns=tuple(columns))

    def lookup(self, parts: tuple[str, ...]) -> KnownTable | None:
        """Return the table that a name in rendered SQL means; None where nothing is known about it.

        A single part that begins with a parenthesis is the text of a subquery, such as an inlined ephemeral model.
        """
        if len(parts) == 1 and parts[0].startswith("("):
            return self.inlined(parts[0])
        self._reads.note([named_table(parts)])
        meaning = self._table_names.meaning(parts)
        if meaning is None or isinstance(meaning, TableLayout):
            return None if meaning is None else KnownTable(meaning)
        if isinstance(meaning, ChangesOf):
            return KnownTable(self._changes(meaning.unique_id), fixed=True)
        with self._lock:
            if meaning in self._tables:
                self._reads.note(self._questions[f"table {meaning}"])
                return self._tables[meaning]
            node = self._prepared.graph.nodes[meaning]
            with self._reads.collected() as self._questions[f"table {meaning}"]:
                if node.materialized == "view":
                    # Who asks reads the query, and wants to know what is declared besides.
                    table = KnownTable(self._declared_columns(node), self._query(node), event_time=event_time_of(node))
                else:
                    is_files, time = _is_files(node), event_time_of(node)
                    table = KnownTable(self.of(meaning), fixed=is_stream(node), files=is_files, event_time=time)
                    if meaning not in self._layouts:
                        return table
            self._tables[meaning] = table
            return table

    def node_named(self, parts: tuple[str, ...]) -> str | None:
        """Return the id of the model, seed or source that a name in rendered SQL means; of its changes, too."""
        self._reads.note([named_table(parts)])
        meaning = self._table_names.meaning(parts)
        if isinstance(meaning, ChangesOf):
            return meaning.unique_id
        return meaning if isinstance(meaning, str) else None

    def inlined(self, query: str | exp.Expr) -> KnownTable | None:
        """Return the ephemeral model that is inlined as this query: its text, parenthesized or not, or its tree.

        Its layout has what the model declares: columns without NULL, keys without duplicates. None: no such model.
        """
        tree = read_query(query).expression if isinstance(query, str) else query
        while tree is not None and tree.key == "subquery":
            tree = tree.this
        with self._lock:
            if self._inlined is None:
                with self._reads.collected() as self._questions["inlined"]:
                    trees = [
                        (read_query(ephemeral.query).expression, ephemeral)
                        for ephemeral in self._ephemeral()
                        if ephemeral.query
                    ]
                self._inlined = {tree: ephemeral for tree, ephemeral in trees if tree is not None}
            self._reads.note(self._questions["inlined"])
            return self._inlined.get(tree) if tree is not None else None

    def _ephemeral(self) -> Iterator[KnownTable]:
        """What is declared of ephemeral models, with their queries."""
        self._reads.note([EPHEMERAL])
        for node in nodes_of(self._prepared.graph.nodes, ModelNode):
            if node.materialized == "ephemeral":
                yield KnownTable(self._declared_columns(node), self._query(node))

    def _changes(self, unique_id: str) -> TableLayout:
        """The view of a table's changes: its rows come from any version, and several of them may have one key."""
        layout = self.of(unique_id)
        columns = [TableColumn(column.name, column.data_type) for column in layout.columns or ()]
        columns += [TableColumn(name, type_of(data_type), False) for name, data_type in _OF_A_CHANGE]
        return TableLayout(columns=tuple(columns), complete=layout.complete)

    def _find(self, node: Node) -> TableLayout:
        if isinstance(node, SourceNode):
            return self._with_recorded(node, self._source(node))
        if isinstance(node, SeedNode):
            return self._with_recorded(node, self._with_config(node, self._seed(node)))
        if not isinstance(node, ModelNode):
            raise TypeError(f"{node.unique_id} is no table")
        kinds: dict[str, Callable[[ModelNode], TableLayout]] = {"merge": self._merge, "table": self._table}
        find = kinds.get(node.materialized)
        if find is None:
            return self._view(node)
        self._reads.note([writers_of(node)])
        layouts = [self._with_config(writer, find(writer)) for writer in self._table_names.writers(node)]
        return self._with_recorded(node, layouts[0] if len(layouts) == 1 else common_layout(layouts))

    def _merge(self, node: ModelNode) -> TableLayout:
        """As engine/tables/catalog.py creates the target: of declared columns, or of those that the MERGE inserts."""
        schema = self._declared_schema(node)
        evolves = self._evolves(node)
        if schema.typed:
            columns = tuple(schema.column(column, True) for column in schema.columns)
            return TableLayout(columns=columns, complete=not evolves, unique=schema.unique)
        inserted = self._inserted(node)
        columns = schema.over(inserted or (), True)
        return TableLayout(columns=columns or None, complete=inserted is not None and not evolves, unique=schema.unique)

    def _table(self, node: ModelNode) -> TableLayout:
        """As CREATE TABLE AS does: the query says which columns there are, and every one takes NULL."""
        schema = self._declared_schema(node)
        columns, complete = self._queried(node)
        return TableLayout(columns=schema.over(columns, True) or None, complete=complete, unique=schema.unique)

    def _view(self, node: ModelNode) -> TableLayout:
        layout = self._declared_columns(node)
        if self._declared_schema(node).typed:
            return layout
        columns, complete = self._queried(node)
        return replace(layout, columns=self._declared_schema(node).over(columns, None) or None, complete=complete)

    def _declared_columns(self, node: Node) -> TableLayout:
        """What is declared of a query's columns; whether they are all is its query's to say."""
        schema = self._declared_schema(node)
        columns = [schema.column(column, None) for column in schema.columns]
        own = {column.name.casefold() for column in schema.columns}
        columns += [TableColumn(name, None, False) for name in sorted(schema.not_null - own)]
        return TableLayout(columns=tuple(columns) or None, unique=schema.unique)

    def _seed(self, node: SeedNode) -> TableLayout:
        schema = self._declared_schema(node)
        seed = self._prepared.files.seeds[node.name]
        types = {name.casefold(): text for name, text in node.config.column_types.items()}
        header = seed_header(seed.path, node.config.delimiter)
        columns = schema.over((TableColumn(name) for name in header or ()), True)
        columns = tuple(
            replace(column, data_type=type_of(types.get(column.name.casefold())) or column.data_type)
            for column in columns
        )
        return TableLayout(columns=columns or None, complete=header is not None, unique=schema.unique)

    def _source(self, node: SourceNode) -> TableLayout:
        table = node.config
        schema = self._declared_schema(node)
        columns = tuple(schema.column(column, None) for column in schema.columns)
        if table.stream is not None:
            if table.stream.batch_columns:
                columns += _BATCH_COLUMNS
            return TableLayout(columns=columns or None, partition_by=(), cluster_by=(), unique=schema.unique)
        complete = False
        if (
            table.path is not None
            and table.format in _TEXT_FORMATS
            and any(column.data_type for column in schema.columns)
        ):
            # As engine/tables/catalog.py reads them: of a CSV file with a header every column, undeclared ones as text.
            columns = tuple(
                column if type_of_source.data_type else replace(column, data_type=type_of("string"))
                for column, type_of_source in zip(columns, schema.columns, strict=True)
            )
            header = str(table.options.get("header", "false")).lower() == "true"
            complete = table.format != "csv" or (not header and schema.typed)
        return TableLayout(
            format=table_format_of(table.format),
            columns=columns or None,
            complete=complete,
            partition_by=_fields(table.partition_by),
            cluster_by=table.cluster_by,
            properties=dict(table.properties),
            unique=schema.unique,
        )

    def _with_config(self, node: RefNode, layout: TableLayout) -> TableLayout:
        """The layout with what the config of a model or seed says of the table; what it leaves out is none."""
        config = node.config
        return replace(
            layout,
            format=config.format,
            partition_by=_fields(config.partition_by),
            cluster_by=config.cluster_by,
            sort_by=_sorted(config),
            properties=dict(config.properties),
        )

    def _with_recorded(self, node: Node, layout: TableLayout) -> TableLayout:
        """The layout with what is recorded where nothing is declared, and what the properties of both say."""
        self._reads.note([node_read(node)])
        real = self._table_names.recorded(node)
        return with_properties(layout if real is None else over_recorded(layout, real), {})

    def _declared_schema(self, node: Node) -> DeclaredSchema:
        self._reads.note([node_read(node)])
        files = self._prepared.files
        if isinstance(node, SourceNode):
            tests = self._tests.get((node.source_name, node.name), ())
            return declared_schema(node.config.columns, node.config.constraints, tests)
        entry = files.models.get(node.name) if isinstance(node, ModelNode) else files.seeds.get(node.name)
        properties = entry.properties if entry is not None else None
        return declared_schema(
            properties.columns if properties else (),
            properties.constraints if properties else (),
            self._tests.get((node.name,), ()),
            run_config(node).unique_key,
        )

    def _evolves(self, node: ModelNode) -> bool:
        """Whether the MERGE may add columns to its target."""
        for conf in (node.config.conf, self._prepared.files.profile.conf):
            if any(key.lower() == _AUTO_MERGE and str(value).lower() == "true" for key, value in conf.items()):
                return True
        try:
            text = self._compiler.render(node.unique_id).text
        except ProblemsError:
            text = node.raw_code
        return _EVOLUTION.search(text) is not None

    def _query(self, node: Node) -> str | None:
        try:
            return query(self._compiler.render(node.unique_id))
        except ProblemsError:
            return None

    def _queried(self, node: Node) -> tuple[Sequence[TableColumn], bool]:
        """Return the columns of a model's query where they are known, and whether that is all of them."""
        text = self._query(node)
        if text is None:
            return (), False
        facts = query_facts(text, self.lookup)
        return [column for column in facts.known_columns if column.name], facts.names_known

    def _inserted(self, node: Node) -> Sequence[TableColumn] | None:
        """The columns of what a model's MERGE inserts; None where they are not all known."""
        try:
            statement = self._compiler.parse_merge(node.unique_id)
        except (ProblemsError, MergeSyntaxError):
            return None
        return inserted_columns(statement, source_facts(statement, self.lookup))


def _sorted(config: ModelConfig) -> tuple[str, ...]:
    """The columns of a declared sort order or Z-order."""
    zorder_by = config.optimize.zorder_by if isinstance(config.optimize, Optimize) else ()
    return (*sorted_columns(config.sort_by, _fields(config.partition_by) or ()), *zorder_by)


def _is_files(node: Node) -> bool:
    """Whether a node is read as a table of files; a batch of a stream is not, whatever it is made of."""
    if not isinstance(node, SourceNode) or node.config.path is None or is_stream(node):
        return False
    return (node.config.format or "").lower() in FILES


def _fields(texts: Sequence[str] | None) -> tuple[PartitionField, ...] | None:
    return None if texts is None else tuple(partition_field(text) for text in texts)
