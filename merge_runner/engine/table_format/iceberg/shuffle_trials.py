"""Asks the engine which changes take the shuffles and sorts out of its plan of a MERGE into an Iceberg table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import EngineError, Kind
from merge_runner.engine.spark.sql import temporary_confs
from merge_runner.engine.table_format.iceberg.layout import table_layout
from merge_runner.engine.table_format.protocol import Ask, RealLayout
from merge_runner.formats.iceberg.write_distribution import distribution_property
from merge_runner.merge.splice import splice
from merge_runner.plan.explain.join_strategy import shape
from merge_runner.plan.explain.shuffle_remedies import CONFS, Circumstances, ShuffleRemedies, Trial, by_rule, trials
from merge_runner.plan.explain.shuffles import Shuffle, shuffles
from merge_runner.pruning.judge.storage_join import storage_join
from merge_runner.pruning.layout.layout import TableLayout, partition_field
from merge_runner.pruning.predicate.join_keys import join_keys
from merge_runner.pruning.query.source import KnownTable
from merge_runner.relation import Relation, quote
from merge_runner.text import Span

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from merge_runner.plan.steps.merge import RunMerge


def remedied_shuffles(
    session: SparkSession, merge: RunMerge, plan: str, conf: Mapping[str, str], declared: Mapping[str, str], ask: Ask
) -> tuple[ShuffleRemedies, ...]:
    """The shuffles and sorts of a plan, with what takes each away.

    `conf` and `declared` are the confs and properties of the model's config. Raises EngineError.
    """
    statement = merge.judged.statement
    source_first = shape(statement) == "insert"
    entries = [ShuffleRemedies(shuffle) for shuffle in shuffles(plan, source_first=source_first)]
    if not entries:
        return ()
    circumstances = _circumstances(session, merge, conf, declared)
    for trial in trials(circumstances):
        concerned = [entry for entry in entries if trial.is_about(entry)]
        if not concerned:
            continue
        left = _try_on_engine(session, merge, trial, ask, source_first=source_first)
        if left is None or len(left) >= len(entries):
            continue
        kinds = Counter(map(_same, left))
        entries = [
            replace(entry, remedies=(*entry.remedies, trial.remedy))
            if entry in concerned and not kinds[_same(entry.shuffle)]
            else entry
            for entry in entries
        ]
    return tuple(entry if entry.remedies else by_rule(entry.shuffle, circumstances) for entry in entries)


def _same(shuffle: Shuffle) -> tuple[str, ...]:
    """What a node has in another plan of the same statement as well."""
    return (shuffle.kind, shuffle.purpose, shuffle.words)


def _try_on_engine(
    session: SparkSession, merge: RunMerge, trial: Trial, ask: Ask, *, source_first: bool
) -> tuple[Shuffle, ...] | None:
    """The shuffles and sorts with the changes of a trial; None where the engine has no plan then."""
    end = merge.judged.statement.on_span.end
    conditions = "".join(f" AND {condition} " for condition in trial.conditions)
    try:
        with temporary_confs(session, trial.confs):
            plan = ask(splice(merge.sql, [(Span(end, end), conditions)]) if conditions else merge.sql)
    except EngineError as error:
        if error.kind is not Kind.USER:
            raise
        return None
    return shuffles(plan, source_first=source_first)


def _circumstances(
    session: SparkSession, merge: RunMerge, conf: Mapping[str, str], declared: Mapping[str, str]
) -> Circumstances:
    judged_merge, statement = merge.judged, merge.judged.statement
    real = table_layout(session, merge.target)
    layout = _layout(real)
    fields = layout.partition_by or ()
    source = _source_layout(session, merge)
    # How the tables really are: what is declared may be less, and for a table that no model makes, nothing.
    as_it_is = replace(judged_merge, layout=layout, lookup=lambda _: KnownTable(source) if source is not None else None)
    keys = [key for key in join_keys(statement.on, judged_merge.scope) if len(key.column.path) == 1]
    join_columns = {key.column.column.casefold() for key in keys}
    columns = dict.fromkeys(field.column for field in fields if field.column.casefold() not in join_columns)
    sides = statement.target.qualifier, statement.source.qualifier
    partitioned_by = {field.column.casefold() for field in fields}
    null_safe = [key.column.column for key in keys if key.null_safe and key.column.column.casefold() in partitioned_by]
    session_confs = {key: session.conf.get(key, None) for key in CONFS}
    return Circumstances(
        {key: value for key, value in session_confs.items() if value is not None},
        conf,
        declared,
        real.properties,
        fields,
        bool(real.sort_by),
        storage_join(as_it_is),
        tuple(_pair(sides, name) for name in columns) if keys and all(sides) else (),
        tuple(dict.fromkeys(null_safe)),
        distribution_property(shape(statement) == "insert"),
    )


def _pair(sides: tuple[str | None, str | None], column: str) -> tuple[str, str]:
    own, other = (f"{quote(str(side))}.{quote(column)}" for side in sides)
    return own, other


def _source_layout(session: SparkSession, merge: RunMerge) -> TableLayout | None:
    """How a source is laid out that is an Iceberg table by itself; None: it is none, or cannot be asked."""
    source = merge.judged.statement.source
    if source.kind != "table" or not source.parts:
        return None
    try:
        real = table_layout(session, Relation(source.parts[-1], *reversed(source.parts[:-1])))
    except EngineError as error:
        if error.kind is not Kind.USER:
            raise
        return None  # a CTE, or a view
    return _layout(real) if real.properties.get("format", "").startswith("iceberg/") else None


def _layout(real: RealLayout) -> TableLayout:
    return TableLayout("iceberg", partition_by=tuple(partition_field(text) for text in real.partition_by))
