"""Whether target and source of a MERGE are partitioned so that Spark could join them partition by partition."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.pruning.judge.merge_analysis import JudgedMerge
from merge_runner.pruning.layout.layout import PartitionField, TableLayout
from merge_runner.pruning.predicate.join_keys import join_keys
from merge_runner.sql.ctes import names_cte


@dataclass(frozen=True)
class StorageJoin:
    """Two partitioned Iceberg tables that a MERGE joins.

    `paired` are fields of the target that the source has in the same way, of the columns that ON equates. `differing`
    are pairs of fields of such columns that are made in different ways. `loose` are the fields of either that ON joins
    to none of the other. `more_keys`: ON joins by more than the partition columns.
    """

    paired: tuple[PartitionField, ...]
    differing: tuple[tuple[PartitionField, PartitionField], ...]
    loose: tuple[PartitionField, ...]
    more_keys: bool


def storage_join(merge: JudgedMerge) -> StorageJoin | None:
    """How partitions of target and source fit; None where they are not two partitioned Iceberg tables, or not known."""
    target = merge.layout.partition_by if _joins_by_storage(merge.layout) else None
    source = source_partitions(merge)
    if not target or not source:
        return None
    equated = _equated_columns(merge)
    paired: dict[PartitionField, PartitionField] = {}
    differing: dict[PartitionField, PartitionField] = {}
    for field in target:
        for other in source:
            if (field.column.casefold(), other.column.casefold()) not in equated:
                continue
            same = (field.transform, field.parameter) == (other.transform, other.parameter)
            (paired if same else differing).setdefault(field, other)
    differing = {field: other for field, other in differing.items() if field not in paired}
    met = {*paired.values(), *differing.values()}
    loose = [field for field in target if field not in paired and field not in differing]
    loose += [field for field in source if field not in met]
    return StorageJoin(tuple(paired), tuple(differing.items()), tuple(loose), len(equated) > len(target))


def source_partitions(merge: JudgedMerge) -> tuple[PartitionField, ...] | None:
    """The partitioning of a source that is an Iceberg table by itself; None where it is none, or not known."""
    source = merge.statement.source
    if source.kind != "table" or not source.parts:
        return None
    ctes = {cte.name.casefold() for cte in merge.statement.ctes}
    if names_cte(source.parts, ctes):
        return None
    table = merge.lookup(source.parts)
    if table is None or table.query is not None or not _joins_by_storage(table.layout):
        return None
    return table.layout.partition_by


def _joins_by_storage(layout: TableLayout) -> bool:
    return layout.capabilities is not None and layout.capabilities.storage_partitioned_join


def _equated_columns(merge: JudgedMerge) -> set[tuple[str, str]]:
    """Pairs of columns, of target and source, that ON equates."""
    pairs = set()
    for key in join_keys(merge.statement.on, merge.scope):
        other = merge.scope.reference(key.source)
        if other is not None:
            pairs.add((key.column.dotted.casefold(), other.dotted.casefold()))
    return pairs
