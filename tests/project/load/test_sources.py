"""Source tables with what their source says for all."""

from __future__ import annotations

import pytest

from merge_runner.errors import Problems
from merge_runner.project.load.sources import source_entry
from merge_runner.project.schema.freshness import Freshness, Threshold
from merge_runner.project.schema.properties import Source, SourceConfig, SourceTable
from merge_runner.text import Place

PLACE = Place("m.yml", 1, 1)


def entry(source, table):
    problems = Problems()
    found = source_entry(source, table, PLACE, problems)
    assert not list(problems)
    return found


def test_schema_and_identifier_are_by_default_the_names():
    table = entry(Source("raw"), SourceTable("t")).table
    assert (table.catalog, table.schema, table.identifier) == (None, "raw", "t")


def test_a_table_says_more_than_its_source():
    source = Source(
        "raw",
        schema="landing",
        catalog="lake",
        options={"header": "true", "sep": ","},
        tags=("a",),
        meta={"x": 1, "y": 1},
        config=SourceConfig(tags=("b",), loaded_at_field="at"),
        freshness=Freshness(warn_after=Threshold(1, "day")),
    )
    table = SourceTable(
        "t", identifier="u", schema="mine", options={"sep": ";"}, tags=("a", "c"), config=SourceConfig(meta={"y": 2})
    )
    found = entry(source, table)
    assert (found.table.catalog, found.table.schema, found.table.identifier) == ("lake", "mine", "u")
    assert found.table.options == {"header": "true", "sep": ";"}
    assert (found.table.freshness, found.table.loaded_at_field) == (Freshness(warn_after=Threshold(1, "day")), "at")
    assert (found.tags, found.meta) == (("a", "b", "c"), {"x": 1, "y": 2})


@pytest.mark.parametrize(
    ("folder", "path", "expected"),
    [
        (None, "data/t.csv", "data/t.csv"),
        ("data/", "t.csv", "data/t.csv"),
        ("data", None, "data/t"),
        ("data", "/abs/t.csv", "/abs/t.csv"),
        ("data", "s3a://bucket/t", "s3a://bucket/t"),
    ],
)
def test_a_path_is_below_that_of_the_source(folder, path, expected):
    found = entry(Source("raw", path=folder, format="csv"), SourceTable("t", path=path)).table
    assert (found.path, found.schema) == (expected, None)


@pytest.mark.parametrize(
    ("path", "format"),
    [("a/t.csv", "csv"), ("t.csv.gz", "csv"), ("t.PARQUET", "parquet"), ("t.jsonl", "json"), ("a.b/t.orc", "orc")],
)
def test_the_format_of_files_is_in_their_suffix(path, format):
    assert entry(Source("raw"), SourceTable("t", path=path)).table.format == format
    assert entry(Source("raw"), SourceTable("t", path=path, format="text")).table.format == "text"
