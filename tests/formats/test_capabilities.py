"""Capabilities agree with the tables of facts, which other tests run on the engines."""

import pytest

from merge_runner.formats.facts.transforms import TRANSFORMS
from merge_runner.formats.merge_plans import duplicates_rows
from merge_runner.formats.presets import low_shuffle, row_concurrency
from merge_runner.formats.registry import FORMATS, capabilities
from merge_runner.formats.rules import rules
from merge_runner.formats.table_clauses import DeclaredTable
from tests.formats.probe_tables import CLAUSES

EVERY_FORMAT = pytest.mark.parametrize("format", FORMATS)
PLATFORMS = ("oss", "databricks", "fabric")


@EVERY_FORMAT
def test_where_a_condition_prunes(format):
    places = {place for fact in CLAUSES.facts(format) for place in fact.answer}
    assert ("when" in places) is capabilities(format).when_conditions_prune
    assert ("inferred" in places) is capabilities(format).infers_through_join


@EVERY_FORMAT
def test_what_a_table_may_be_created_with(format):
    found = capabilities(format)
    assert any(TRANSFORMS.facts(format)) is found.partition_transforms
    for table, possible in (
        (DeclaredTable(partition_by=["bucket(16, id)"]), found.partition_transforms),
        (DeclaredTable(cluster_by=["id"]), found.liquid_clustering),
    ):
        assert (list(rules(format).clause_faults(table)) == []) is possible


@EVERY_FORMAT
def test_what_the_platforms_set(format):
    found = capabilities(format)
    for platform in PLATFORMS:
        assert set(low_shuffle(format, platform, on=True).conf) == {
            key for name, key in found.low_shuffle_confs.items() if name == platform
        }
        assert bool(row_concurrency(format, platform).properties) is (platform in found.row_level_concurrency)


@EVERY_FORMAT
def test_a_merge_duplicates_rows_only_where_it_copies(format):
    found = capabilities(format)
    for value, copies in ((found.marking.copies, True), (found.marking.marks.upper(), False)):
        properties = {found.marking.property: value}
        assert duplicates_rows(format, ["not_matched_by_source"], properties) is (
            copies and found.duplicates_unmatched_rows
        )
