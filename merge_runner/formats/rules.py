"""What the table formats decide in different ways: a function of each for the same question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from merge_runner.formats import Format
from merge_runner.formats.delta import properties as delta_properties
from merge_runner.formats.delta import table_clauses as delta_clauses
from merge_runner.formats.delta import write_distribution as delta_distribution
from merge_runner.formats.iceberg import properties as iceberg_properties
from merge_runner.formats.iceberg import table_clauses as iceberg_clauses
from merge_runner.formats.iceberg import write_distribution as iceberg_distribution
from merge_runner.formats.lines import Line
from merge_runner.formats.properties import PropertyFault
from merge_runner.formats.table_clauses import ClauseFault, DeclaredTable
from merge_runner.formats.write_distribution import WriteDistribution


@dataclass(frozen=True, slots=True)
class FormatRules:
    """The functions of a format.

    `property_fault(key, value, columns, line)` is what is wrong with a table property, `clause_faults(table)`
    everything for which CREATE TABLE fails, `write_distribution(appends, properties, conf)` how a MERGE distributes the
    rows that it writes, where `appends` is whether it only inserts.
    """

    property_fault: Callable[[str, str, Collection[str] | None, Line], PropertyFault | None]
    clause_faults: Callable[[DeclaredTable], Iterator[ClauseFault]]
    write_distribution: Callable[[bool, Mapping[str, str], Mapping[str, str]], WriteDistribution]


_RULES: Mapping[Format, FormatRules] = MappingProxyType(
    {
        "delta": FormatRules(
            delta_properties.property_fault, delta_clauses.clause_faults, delta_distribution.write_distribution
        ),
        "iceberg": FormatRules(
            iceberg_properties.property_fault, iceberg_clauses.clause_faults, iceberg_distribution.write_distribution
        ),
    }
)


def rules(format: Format) -> FormatRules:
    """Return the functions of a table format."""
    return _RULES[format]
