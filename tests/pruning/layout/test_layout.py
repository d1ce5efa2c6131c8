"""The layout of a table as a value, and how its partition fields are written."""

from pathlib import Path

import pytest

from merge_runner.pruning.layout.layout import UNKNOWN, TableColumn, TableLayout, partition_field
from tests.yaml_data import read_yaml

FIELDS = read_yaml(Path(__file__).parent / "partition_fields.yml")
TABLE = TableLayout(
    format="iceberg",
    columns=(TableColumn("Id"), TableColumn("ts")),
    complete=True,
    partition_by=(partition_field("days(ts)"), partition_field("region")),
    cluster_by=("Id",),
)


@pytest.mark.parametrize(("text", "column", "transform", "parameter", "shown"), FIELDS)
def test_a_partition_field_is_read_as_ddl_writes_it(text, column, transform, parameter, shown):
    field = partition_field(text)
    assert (field.column, field.transform, field.parameter) == (column, transform, parameter)
    assert str(field) == shown


def test_names_compare_without_case():
    assert TABLE.column("ID").name == "Id"
    assert TABLE.has_column("TS") is True
    assert TABLE.is_partition("REGION") is True
    assert TABLE.is_clustered("iD") is True
    assert TABLE.partition_field("Ts").transform == "days"


def test_a_transform_is_no_partitioning_by_the_column_itself():
    assert TABLE.is_partition("ts") is False


def test_what_is_not_said_is_unknown():
    assert (UNKNOWN.has_column("a"), UNKNOWN.is_partition("a"), UNKNOWN.is_clustered("a")) == (None, None, None)
    assert TABLE.has_column("nope") is False
    assert TableLayout(columns=(TableColumn("a"),)).has_column("b") is None
    assert TableLayout(partition_by=(), cluster_by=()).is_partition("a") is False
