"""What rules look at: a model's file, the MERGE in it, and the project around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from merge_runner.errors import Problem
from merge_runner.formats.lines import Line, installed_line
from merge_runner.graph.graph import Graph, ModelNode
from merge_runner.graph.model_text import OlderRows
from merge_runner.lint.containers.contents import Container
from merge_runner.merge.read_query import read_query
from merge_runner.merge.statement import Expr, MergeStatement
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.plan.batches.batch_values import batch_values
from merge_runner.project.load.files import ProjectFiles
from merge_runner.project.schema.config_layers import Layer, config_place
from merge_runner.pruning.judge.batch_inputs import BatchLiterals
from merge_runner.pruning.judge.merge_analysis import JudgedMerge
from merge_runner.pruning.judge.unknown_qualifiers import unknown_qualifiers
from merge_runner.pruning.predicate.scope import Variables
from merge_runner.pruning.query.unknown_names import unknown_names
from merge_runner.relation import Relation
from merge_runner.sql.ctes import named_tables, names_cte, source_queries, statement_ctes
from merge_runner.template.rendered_text import RenderedText
from merge_runner.text import Place, SourceText, Span

if TYPE_CHECKING:
    from sqlglot import exp

    from merge_runner.project.schema.profile import Profile
    from merge_runner.pruning.judge.unknown_qualifiers import UnknownQualifier
    from merge_runner.pruning.query.unknown_names import UnknownName

_DBT_TEMPORARY = "__dbt_tmp"
"""dbt puts the rows of a model's query into a view or table with this in its name; its manifest has the query."""

_WRITES = re.compile(r"\binsert\s+(into|overwrite)\b|\bmerge\s+into\b|\.merge\(|\.write|insertInto", re.IGNORECASE)

_CASE_SENSITIVE = "spark.sql.casesensitive"
"""The conf, case folded, with which names that differ in case are two."""

_NOT_NULL = ("not_null", "primary_key")
"""The types of constraints with which a column of a model is created NOT NULL."""

_OF_VIEWS = "global_temp"
"""The schema of the temporary views that all sessions of an application see."""


@dataclass(frozen=True)
class LintedFile:
    """A file that is to hold a MERGE. `node` None: a plain file outside of any project.

    `rendered` None: its Jinja could not be rendered, and `problems` say why. `error` is what Spark's parser would
    refuse. `is_merge` says that it is a merge model, or a plain file that holds a MERGE.
    """

    source: SourceText
    node: ModelNode | None
    rendered: RenderedText | None
    name: str | None = None
    """The model's; None for a plain file."""
    problems: tuple[Problem, ...] = ()
    error: MergeSyntaxError | None = None
    is_merge: bool = True
    statement: MergeStatement | None = None
    profile: Profile | None = None
    """The profile of the project; None for a plain file."""
    platform: str = "oss"
    line: Line = field(default_factory=installed_line)
    """The Spark that the verdict is for."""
    conf: Mapping[str, str] = field(default_factory=dict)
    """The confs that its session has: the model's over those of the profile."""
    layers: tuple[Layer, ...] = ()
    """The model's config from outside of its file, the most specific last."""
    variables: Variables = field(default_factory=dict)
    """The session variables that statements before it declare."""
    scan: Literal["bounded", "full"] = "bounded"
    """`full`: scanning the whole target is intended, as the config of the model declares (or `meta` of a dbt model)."""

    container: Container = "model"
    """What its MERGE is written in."""
    discarded: tuple[Place, ...] = ()
    """The calls next to its builder that add a clause to nothing."""

    @property
    def path(self) -> str:
        """The author's file, relative to the project."""
        return self.source.path

    @property
    def relation(self) -> Relation | None:
        """The table that the model is; None for a plain file."""
        return self.node.relation if self.node else None

    @cached_property
    def batch(self) -> BatchLiterals | None:
        """The window that it is rendered for, the first one of its model; None: the model has no batches."""
        values = batch_values(self.node, None) if self.node is not None else None
        return None if values is None else BatchLiterals(values["start"], values["end"], values["id"])

    @property
    def may_be_case_sensitive(self) -> bool:
        """Whether names that differ in case alone may be two: a conf of the session, or a text that is run, says so."""
        value = next((value for key, value in self.conf.items() if key.casefold() == _CASE_SENSITIVE), "false")
        texts = (self.source.text,) if self.node is None else self.node.config.pre_hook
        return str(value).casefold() == "true" or any(_CASE_SENSITIVE in text.casefold() for text in texts)

    def config_place(self, key: str) -> Place:
        """Return where the config key of a model is written; the beginning of its file where nothing says."""
        own = (self.rendered.captured.config,) if self.rendered is not None else ()
        return config_place((*self.layers, *own), key) or Place(self.path, 1, 1)


@dataclass(frozen=True)
class LintedMerge(JudgedMerge):
    """A MERGE that parses, with everything that is known of it, in the file that holds it."""

    file: LintedFile = field(kw_only=True)

    @cached_property
    def unknown_qualifiers(self) -> tuple[UnknownQualifier, ...]:
        """What names are qualified by that is neither target nor source."""
        qualifiers = unknown_qualifiers(self.statement, self.layout, self.source, self.scope)
        # A session variable may have fields, too.
        return tuple(
            qualifier
            for qualifier in qualifiers
            if qualifier.evidence != "no such column" or not self.declares_variables
        )

    @cached_property
    def unknown_in_using(self) -> tuple[tuple[Expr, UnknownName], ...]:
        """The names in the query of USING and its CTEs that no relation there has, each with the query it is in."""
        queries = [self.statement.source.query, *(cte.query for cte in self.statement.ctes)]
        trees = {id(query.expression): query for query in queries if query is not None and query.expression is not None}
        return tuple(
            (trees[id(select.select.root())], name)
            for select in self.selects
            if id(select.select.root()) in trees
            for name in unknown_names(select, variables=self.declares_variables)
        )

    @property
    def declares_variables(self) -> bool:
        """Whether session variables may be declared before the MERGE runs."""
        if self.file.node is None:
            return "declare" in self.file.source.text.lower()
        return any("declare" in hook.lower() for hook in self.file.node.config.pre_hook)

    @property
    def not_null(self) -> frozenset[str]:
        """The columns (case folded) that the table itself keeps from NULL; one that a data test promises is none."""
        node = self.file.node
        if node is None:
            # What dbt's manifest says of a column may be of a test, too.
            columns = () if self.file.container == "dbt" else self.layout.columns or ()
            return frozenset(column.name.casefold() for column in columns if column.nullable is False)
        own = [
            (constraint, [name])
            for name, column in node.columns.items()
            for constraint in column.get("constraints") or ()
        ]
        promises = [*own, *((constraint, constraint.get("columns") or ()) for constraint in node.constraints)]
        column_lists = (names for constraint, names in promises if constraint.get("type") in _NOT_NULL)
        return frozenset(name.strip().strip("`").casefold() for names in column_lists for name in names)

    def names_window(self, tree: exp.Expr | None) -> bool:
        """Whether a condition names the window of a batch: lint sees the first batch, and others have another one."""
        return tree is not None and self.file.batch is not None and any(self.file.batch.count(tree).values())

    @property
    def scans_all_on_purpose(self) -> bool:
        """Whether the model says `scan: full`."""
        return self.file.scan == "full"

    @property
    def scans_by_source(self) -> bool:
        """Whether a WHEN NOT MATCHED BY SOURCE clause turns all pruning off."""
        return any(clause.kind == "not_matched_by_source" for clause in self.statement.clauses)

    @property
    def has_another_writer(self) -> bool:
        """Whether a hook, or another statement in a plain file, may write the target too."""
        node = self.file.node
        if node is not None:
            return bool(node.config.pre_hook or node.config.post_hook)
        return len(_WRITES.findall(self.file.source.text)) > 1

    @property
    def merges_once(self) -> bool:
        """Whether source rows are, or may be, merged once only."""
        if "txnversion" in self.file.source.text.casefold() or self.reads_target:
            return True
        tables = [self.lookup(parts) for parts in self.reading.tables]
        return any(table is not None and table.fixed for table in tables)

    @property
    def inserts(self) -> bool:
        """Whether there is an INSERT clause."""
        return any(clause.action == "insert" for clause in self.statement.clauses)

    def written_at(self, span: Span) -> Place | None:
        """Return where a part of the statement is in the author's file; None where it does not say the same there."""
        rendered = self.file.rendered
        place = rendered.place(span.start, span.end) if rendered is not None else None
        if rendered is None or place is None or place.end_line is None or place.end_column is None:
            return None
        source = rendered.source
        start, end = source.offset(place.line, place.column), source.offset(place.end_line, place.end_column)
        return place if source.text[start:end] == span.of(self.statement.text) else None

    def source_text(self, span: Span) -> str | None:
        """Return what the author has written for a part of the statement, with its Jinja.

        None where it does not begin and end there: it is a part of what a macro gives, or of a branch.
        """
        rendered = self.file.rendered
        if rendered is None:
            return None
        is_authored, last = rendered.map.is_authored, len(rendered.text)
        begins = is_authored(span.start, span.start + 1) or is_authored(span.start - 1, span.start)
        ends = is_authored(span.end - 1, span.end) or span.end == last or is_authored(span.end, span.end + 1)
        place = rendered.place(span.start, span.end)
        if not begins or not ends or place.end_line is None or place.end_column is None:
            return None
        source = rendered.source
        text = source.text[source.offset(place.line, place.column) : source.offset(place.end_line, place.end_column)]
        return text if "{%" not in text else None

    @property
    def has_unknown_dbt_query(self) -> bool:
        """Whether the source is dbt's temporary view or table, and the query that it holds is not known."""
        parts = self.statement.source.parts
        if not parts or _DBT_TEMPORARY not in parts[-1].casefold():
            return False
        source = self.lookup(parts)
        return source is None or source.query is None

    @property
    def may_read_unknown_view(self) -> bool:
        """Whether a plain file's source may be a view of which nothing is known, so that its filters are not known.

        That is a name in USING, and in its query, or that of a view, a name of one part or of global_temp, as the views
        of a session have.
        """
        if self.file.node is not None:
            return False

        statement = self.statement
        source = statement.source
        names = set() if names_cte(source.parts, statement_ctes(statement)) else {source.parts}
        seen: set[tuple[str, ...]] = {()}
        queries = [(query.expression, visible) for query, visible in source_queries(statement)]
        while queries or names - seen:
            for tree, visible in queries:
                tables = (
                    (table for table, cte in named_tables(tree, visible) if cte is None) if tree is not None else ()
                )
                parts_of = [tuple(part.name for part in table.parts) for table in tables]
                names |= {parts for parts in parts_of if len(parts) == 1 or parts[0].casefold() == _OF_VIEWS}
            queries = []
            for parts in names - seen:
                seen.add(parts)
                relation = self.lookup(parts)
                if relation is None:
                    return True
                queries += [(read_query(relation.query).expression, {})] if relation.query is not None else []
        return False


@dataclass(frozen=True)
class LintedProject:
    """A project as a whole, with its linted merges by node id.

    `models` are the ids of the models that are looked at: what is found in files of others is not reported.
    """

    files: ProjectFiles
    graph: Graph
    merges: Mapping[str, LintedMerge]
    models: Collection[str] = ()
    older_rows: Callable[[ModelNode], OlderRows | None] = lambda _node: None
    """Returns how many commits of a model's table an older text had made, as its layout file has recorded."""
