"""A clause that this Spark or format cannot run.

## What it does

Reports what Spark's parser takes and Spark, Delta or Iceberg then refuse, on the [line of
Spark](../../guides/spark-versions.md) that lint judges for: `DEFAULT` as a value on Delta, a parameter `:p`, an
aggregate, a window function, a generator or an `EXISTS` among the values of SET and INSERT, `rand()` there and in USING
on Iceberg, a column of the source in WHEN NOT MATCHED BY SOURCE, an identity column that is assigned, a partition
transform on Delta, CLUSTER BY on Iceberg or by more than four columns, WITH SCHEMA EVOLUTION on Spark 3.5, and on
Iceberg on 4.0, WITH RECURSIVE on Spark 3.5 and 4.0, QUALIFY and CHANGES FROM before Spark 4.2, options of a table in
MERGE before 4.3, CHANGES FROM of a Delta table where the session has not
`spark.databricks.delta.changelogV2.enabled`, a generated column on Delta or a VARIANT on Spark 3.5. It also reports
what only another system's MERGE has, such as RETURNING.

In scripts, notebooks and code the format is that of the table where the files' DDL or `--layout` says it; where nothing
does, and in Databricks notebooks, as that platform can do more, what no format takes is reported.

Where the types of columns are known, it reports what is refused for them alone: maps and variants that are compared,
maps that are hashed, maps in the query of USING that it makes distinct, sorts, joins by or takes the greatest of, a key
of SET that names a part of what is no struct, or no field of one, and on Delta a `char(n)` of the target or of a table
in USING that ON, a condition or a value reads, and, with deletion vectors, a column `filePath` of both target and
source.

A target that is a view is reported where no engine writes through it: one that filters or is not temporary, one that
does not give all columns of its table as they are, and any view of an Iceberg table. Through another one, the layout
and verdict are those of the table below.

## Why it matters

The model fails as soon as it runs, often with an error that does not name the cause: on Delta, `DEFAULT` gives
"Cannot find main error class". A wrong layout fails on the first run only, when the table is created.

## Bad

```sql
{{ config(partition_by=[], cluster_by=['id', 'dt', 'region', 'ts', 'name']) }}

merge into {{ this }} as t
using {{ source('raw', 's') }} as s
   on t.dt = s.dt and t.id = s.id
when matched then update set region = default, amount = sum(s.amount)
```

## Good

```sql
{{ config(partition_by=[], cluster_by=['dt', 'id']) }}

merge into {{ this }} as t
using (select id, dt, sum(amount) as amount from {{ source('raw', 's') }} group by id, dt) as s
   on t.dt = s.dt and t.id = s.id
when matched then update set region = null, amount = s.amount
```

## When to ignore it

When the model runs on a platform or a version that has the clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from merge_runner.formats import Format
from merge_runner.formats.grammar import CHANGES
from merge_runner.formats.lines import RECOMMENDED, Line
from merge_runner.formats.registry import FORMATS, capabilities
from merge_runner.formats.rules import rules
from merge_runner.formats.syntax import RANDOM_SOURCE, runs
from merge_runner.formats.table_clauses import DeclaredColumn, DeclaredTable
from merge_runner.lint.rule import Hit
from merge_runner.merge.forbidden import forbidden
from merge_runner.merge.name_places import names_span
from merge_runner.merge.parameters import parameters
from merge_runner.pruning.judge.random_source import random_calls
from merge_runner.pruning.judge.refused_in_using import refusals_in_using
from merge_runner.pruning.judge.refused_types import refusals
from merge_runner.pruning.layout.layout import UNKNOWN
from merge_runner.pruning.predicate.scope import Scope
from merge_runner.pruning.query.target_view import target_view
from merge_runner.pruning.runtime_filter.target_reads import read_of
from merge_runner.sql.ctes import named_tables, source_queries
from merge_runner.sql.names import fold, name_parts
from merge_runner.text import Place, Span

if TYPE_CHECKING:
    from merge_runner.lint.context import LintedFile, LintedMerge
    from merge_runner.lint.finding import Severity
    from merge_runner.merge.statement import Clause, Expr, MergeStatement
    from merge_runner.project.schema.config import ModelConfig
    from merge_runner.pruning.layout.layout import TableLayout

SEVERITY: Severity = "error"

_PREDICATE = re.compile(r"\b(exists|in)\s*\Z", re.IGNORECASE)
_RECURSIVE = re.compile(r"\bwith\s+recursive\b", re.IGNORECASE)
_OF_A_PLATFORM = ("notebook", "dbt")
"""Containers whose MERGE may run on a platform, the formats of which can do more than those that were measured."""
_IN_USING = "compute it in USING, as a column of the source"


def check_file(file: LintedFile) -> Iterator[Hit]:
    """What the parser refuses as another system's, then the MERGE by its text alone, then the layout of the table."""
    if file.error is not None and file.error.kind == "unsupported":
        yield Hit(file.error.span, file.error.message, file.error.hint)
    if file.statement is not None:
        scope = Scope.of(file.statement, UNKNOWN)
        if file.node is not None:
            yield from _parameters(file.statement)
        for clause in file.statement.clauses:
            yield from _sides(clause, scope)
    if file.node is not None and file.platform == "oss" and file.node.materialized in ("merge", "table"):
        yield from _table(file, file.node.config)


def check_merge(merge: LintedMerge) -> Iterator[Hit]:
    """What the format of the target cannot run; where that is not known, what no format can."""
    if merge.file.platform != "oss":
        return

    statement, engine = merge.file.statement or merge.statement, _Engine.of(merge)
    yield from _newer_forms(merge, statement)
    yield from _view(merge, statement, engine)
    yield from _variables(merge, statement)
    yield from _statement(statement, engine)
    for clause in statement.clauses:
        for assignment in clause.assignments:
            yield from _value(engine, statement, assignment.value, merge.scope)
            yield from _column(engine, clause, assignment.column, assignment.span, merge.scope)
        yield from _identities(clause, statement, merge.layout)
    insert_only = statement.merge_class == "insert-only"
    refused = [*refusals(statement, merge.layout, merge.source, merge.scope, merge.lookup)]
    refused += refusals_in_using(statement, merge.selects)
    if not engine.runs(RANDOM_SOURCE, insert_only):  # only then is it asked what the source reads
        refused += random_calls(statement, merge.layout, merge.reading, merge.lookup)
    for refusal in refused:
        if not engine.runs(refusal.feature, insert_only):
            where = f" on {engine.label(refusal.feature)}" if engine.is_narrower(refusal.feature) else ""
            yield Hit(refusal.span, f"{refusal.message}{where}", refusal.hint)


@dataclass(frozen=True)
class _Engine:
    """What runs a MERGE: the formats that its target may have, and the line of Spark."""

    formats: tuple[Format, ...]
    line: Line

    @classmethod
    def of(cls, merge: LintedMerge) -> _Engine:
        """Return what runs a MERGE. What is said of a table of which nothing is known has to hold everywhere."""
        name, file = merge.layout.format, merge.file
        if name is None or (file.node is None and file.container in _OF_A_PLATFORM):
            return cls(FORMATS, RECOMMENDED)
        return cls((name,), file.line)

    def runs(self, feature: str, insert_only: bool = False) -> bool:
        """Return whether one of the formats runs a feature on the line."""
        return any(runs(table_format, feature, insert_only, self.line) for table_format in self.formats)

    def is_narrower(self, feature: str) -> bool:
        """Return whether another format or line runs a feature."""
        return any(runs(table_format, feature) for table_format in FORMATS)

    def label(self, feature: str, insert_only: bool = False) -> str:
        """Return the format as messages name it; with the line of Spark where others have the feature."""
        label = " and ".join(capabilities(table_format).label for table_format in self.formats)
        elsewhere = any(runs(table_format, feature, insert_only) for table_format in self.formats)
        return f"{label} on {self.line}" if elsewhere else label


def _newer_forms(merge: LintedMerge, statement: MergeStatement) -> Iterator[Hit]:
    """What only the parser of a newer line of Spark takes. A platform may have it without being that line."""
    if merge.file.node is None and merge.file.container in _OF_A_PLATFORM:
        return
    for use in statement.forms:
        if not use.form.parses_on(merge.file.line):
            message = f"{merge.file.line} has no {use.form.name}: Spark {use.form.since} is the first that has it"
            yield Hit(use.span, message, use.form.hint)
    if merge.file.node is not None and CHANGES.parses_on(merge.file.line):
        yield from _changes(merge, statement)


def _changes(merge: LintedMerge, statement: MergeStatement) -> Iterator[Hit]:
    """The changes of tables whose format does not give them in this session."""
    confs = {key.casefold(): str(value).casefold() for key, value in merge.file.conf.items()}
    for query, visible in source_queries(statement):
        tables = named_tables(query.expression, visible) if query.expression is not None else ()
        for table, cte in tables:
            known_table = merge.lookup(tuple(part.name for part in table.parts)) if cte is None else None
            name = known_table.layout.format if known_table is not None else None
            if not table.args.get("changes") or name is None or name not in merge.file.line.formats:
                continue
            facts = capabilities(name)
            if facts.changes_conf is None or confs.get(facts.changes_conf.casefold()) != "true":
                message = f"{facts.label} gives no changes of {table.name} by CHANGES FROM"
                hint = CHANGES.hint
                if facts.changes_conf is not None:
                    message += f" without the conf {facts.changes_conf}"
                    hint = f"set it to true, and delta.enableRowTracking on the table; or {hint}"
                yield Hit(read_of(table, query).span, message, hint)


def _view(merge: LintedMerge, statement: MergeStatement, engine: _Engine) -> Iterator[Hit]:
    """A target that is a view, which the format does not write through."""
    view = target_view(statement.target.parts, merge.lookup)
    if view is None or (
        view.fault is None and any(capabilities(table_format).writes_through_views for table_format in engine.formats)
    ):
        return
    systems = " and ".join(capabilities(table_format).label for table_format in engine.formats)
    why = f"{view.fault}: no MERGE writes" if view.fault else f"is a view: no MERGE into {systems} writes"
    hint = f"merge into {'.'.join(view.parts)}" if view.parts else "merge into the table itself"
    yield Hit(statement.target.relation, f"{statement.target.parts[-1]} {why} through it", hint)


def _variables(merge: LintedMerge, statement: MergeStatement) -> Iterator[Hit]:
    """Session variables that the format cannot resolve."""
    # Delta in a plain file may be a platform's that can do more; a MERGE of Iceberg is planned by Spark itself.
    name = merge.layout.format
    if name is None or runs(name, "session variable", line=merge.file.line):
        return
    engine = _Engine((name,), merge.file.line)
    parts: list[Expr] = [*statement.on, *(clause.condition for clause in statement.clauses if clause.condition)]
    for part in (*parts, *_values(statement)):
        for path, node in _names(part):
            if merge.scope.is_variable(path) or _is_qualified_variable(path):
                where = engine.label("session variable")
                message = f"{where} cannot resolve the session variable {'.'.join(path)} in a MERGE"
                yield Hit(_span(part, node), message, "read it in USING, as a column of the source")


def _is_qualified_variable(path: tuple[str, ...]) -> bool:
    """Whether a name is `system.session.v`; a shorter one may be a column's."""
    return len(path) > 2 and (path[0].casefold(), path[1].casefold()) == ("system", "session")


def _statement(statement: MergeStatement, engine: _Engine) -> Iterator[Hit]:
    """What is around the clauses."""
    if statement.schema_evolution and not engine.runs("schema evolution"):
        message = f"{engine.label('schema evolution')} has no MERGE WITH SCHEMA EVOLUTION"
        yield Hit(
            statement.target.span, message, "add the columns before, as `on_schema_change: append_new_columns` does"
        )
    if (place := _recursive_using(statement)) and not engine.runs("recursive CTE in USING"):
        message = f"{engine.line} has no WITH RECURSIVE"
        yield Hit(place, message, "compute it in a hook or a job, into a table that this model reads")
    if statement.recursive and statement.ctes and not engine.runs("recursive CTE"):
        message = f"{engine.label('recursive CTE')} cannot run a MERGE after WITH RECURSIVE"
        inside = engine.runs("recursive CTE in USING")
        hint = (
            "move the WITH RECURSIVE into the query of USING" if inside else "compute it in a model that this one reads"
        )
        yield Hit(statement.ctes[0].span, message, hint)


def _recursive_using(statement: MergeStatement) -> Span | None:
    """Return where the query of USING, or a CTE in front of the MERGE, has WITH RECURSIVE; None where none has."""
    if "recursive" not in statement.text.lower():
        return None
    for query in (statement.source.query, *(cte.query for cte in statement.ctes)):
        tree = query.expression if query is not None else None
        if (
            query is not None
            and tree is not None
            and any(with_clause.recursive for with_clause in tree.find_all(exp.With))
        ):
            match = _RECURSIVE.search(query.text)
            return Span(query.span.start + match.start(), query.span.start + match.end()) if match else query.span
    return None


def _values(statement: MergeStatement) -> Iterator[Expr]:
    for clause in statement.clauses:
        yield from (assignment.value for assignment in clause.assignments)


def _parameters(statement: MergeStatement) -> Iterator[Hit]:
    """`:p` and `?`, each name once: `build` passes no values for them."""
    for name, span in parameters(statement.text):
        subject, var_name = (f":{name}", name) if name else ("?", "…")
        message = f"nothing gives the parameter {subject} a value: `build` runs the statement without arguments"
        yield Hit(span, message, f"write {{{{ var('{var_name}') | literal }}}} for a value, `| identifier` for a name")


def _value(engine: _Engine, statement: MergeStatement, value: Expr, scope: Scope) -> Iterator[Hit]:
    insert_only = statement.merge_class == "insert-only"
    if value.text.strip().lower() == "default" and not engine.runs("DEFAULT", insert_only):
        message = f"{engine.label('DEFAULT', insert_only)} cannot resolve DEFAULT as a value in MERGE"
        yield Hit(value.span, message, "leave the column out of INSERT, or write the value itself")
        return
    for use in forbidden(value):
        feature: str = use.sort
        if feature == "subquery":
            if _PREDICATE.search(statement.text[: use.span.start]):
                feature = "predicate subquery"
            else:
                feature = "correlated subquery" if _is_correlated(value, use.span, scope) else "scalar subquery"
        if engine.runs(feature, insert_only):
            continue
        subject = f"the {feature} {use.name}" if use.name else f"a {feature}"
        runs_elsewhere = any(runs(table_format, feature, insert_only) for table_format in FORMATS)
        where = f" on {engine.label(feature, insert_only)}" if runs_elsewhere else ""
        yield Hit(use.span, f"{subject} cannot be a value of SET or INSERT{where}", _IN_USING)


def _is_correlated(value: Expr, span: Span, scope: Scope) -> bool:
    """Whether the subquery at the span names a column of the target or of the source by their own names."""
    if value.expression is None:
        return False
    inner = {
        relation.alias_or_name.casefold()
        for relation in value.expression.find_all(exp.Table, exp.Subquery, exp.CTE, exp.Lateral)
    }
    outer = {name[-1] for name in (*scope.target_names, *scope.source_names)} - inner
    for column in value.expression.find_all(exp.Column):
        at = column.this.meta.get("start") if isinstance(column.this, exp.Identifier) else None
        inside = at is not None and span.start <= value.span.start + at < span.end
        if inside and column.table and column.table.casefold() in outer:
            return True
    return False


def _names(part: Expr) -> Iterator[tuple[tuple[str, ...], exp.Expr]]:
    """The names of columns in an expression, outside of subqueries, each with its node."""

    def walk(node: exp.Expr) -> Iterator[tuple[tuple[str, ...], exp.Expr]]:
        parts = name_parts(node)
        if parts is not None:
            yield parts, node
        elif not isinstance(node, (exp.Query, exp.Lambda)):
            for child in node.iter_expressions():
                yield from walk(child)

    return walk(part.expression) if part.expression is not None else iter(())


def _span(part: Expr, node: exp.Expr) -> Span:
    return names_span(node, part.span.start) or part.span


def _column(engine: _Engine, clause: Clause, column: tuple[str, ...], span: Span, scope: Scope) -> Iterator[Hit]:
    if clause.action != "insert" or engine.runs("field of a struct in INSERT", insert_only=True):
        return
    folded = fold(column)
    own = next((name for name in scope.target_names if folded[: len(name)] == name and len(folded) > len(name)), ())
    if len(folded) > len(own) + 1:
        field_name = ".".join(column)
        yield Hit(
            span, f"INSERT cannot name the field {field_name} of a struct", "insert the whole struct: named_struct(…)"
        )


_ELSEWHERE = {
    "not_matched": ("target", "there is no row of the target in WHEN NOT MATCHED: {} cannot be read"),
    "not_matched_by_source": (
        "source",
        "there is no row of the source in WHEN NOT MATCHED BY SOURCE: {} cannot be read",
    ),
}


def _sides(clause: Clause, scope: Scope) -> Iterator[Hit]:
    """Columns of the side that has no row in the clause, where they are qualified."""
    if clause.kind not in _ELSEWHERE:
        return
    wrong, message = _ELSEWHERE[clause.kind]
    target_names, source_names = scope.target_names, scope.source_names
    names, also = (target_names, source_names) if wrong == "target" else (source_names, target_names)
    for part in clause.expressions:
        for path, node in _names(part):
            folded = tuple(part_name.casefold() for part_name in path)
            if _is_of(folded, names) and not _is_of(folded, also):
                yield Hit(
                    _span(part, node), message.format(".".join(path)), "move the condition to ON, or use the other side"
                )


def _is_of(folded: tuple[str, ...], names: Iterable[tuple[str, ...]]) -> bool:
    return any(len(folded) > len(name) and folded[: len(name)] == name for name in names)


def _identities(clause: Clause, statement: MergeStatement, layout: TableLayout) -> Iterator[Hit]:
    """Identity columns that get a value."""
    for column in layout.columns or ():
        if column.identity is None:
            continue
        if clause.action == "update" or (clause.action == "insert" and column.identity == "always"):
            words = "UPDATE" if clause.action == "update" else "INSERT"
            message = f'{words} cannot give the identity column "{column.name}" a value'
            hint = f"name the columns of {words} without it"
            if clause.star and not statement.schema_evolution:
                yield Hit(clause.span, message, hint)
            for assignment in clause.assignments:
                if assignment.column[-1].casefold() == column.name.casefold():
                    yield Hit(assignment.span, message, hint)


def _columns(file: LintedFile) -> tuple[DeclaredColumn, ...]:
    columns = file.node.columns if file.node is not None else {}
    return tuple(
        DeclaredColumn(name, properties.get("data_type"), _generated(properties))
        for name, properties in columns.items()
    )


def _generated(column: Any) -> str:
    texts = [
        constraint.get("expression") or ""
        for constraint in column.get("constraints", ())
        if constraint.get("type") == "custom"
    ]
    return next((text for text in texts if re.match(r"\s*(generated|default)\b", text, re.IGNORECASE)), "").strip()


def _table(file: LintedFile, config: ModelConfig) -> Iterator[Hit]:
    table = DeclaredTable(config.partition_by, config.cluster_by, _columns(file), config.properties, file.line)
    for fault in rules(config.format).clause_faults(table):
        yield Hit(_place(file, fault.key), fault.message, fault.hint, subject=f"{fault.key} {fault.subject}")


def _place(file: LintedFile, key: str) -> Place:
    """Where the model's own file writes the config key; its first line where YAML or pyproject.toml does."""
    inline = file.rendered.captured.config.places if file.rendered is not None else {}
    return inline.get(key) or Place(file.path, 1, 1)
