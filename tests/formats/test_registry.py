"""Every table format has all that is looked up by its name."""

from typing import get_args

import pytest

from merge_runner.formats import DEFAULT, Format
from merge_runner.formats.constraints import UNALTERABLE
from merge_runner.formats.merge_plans import PLANS, Shape
from merge_runner.formats.properties import known_properties
from merge_runner.formats.registry import FORMATS, capabilities, table_format_of
from merge_runner.formats.rules import rules
from merge_runner.formats.table_clauses import DeclaredTable
from merge_runner.project.schema.config import ModelConfig
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.skipping.registry import pruning_model


def test_the_registry_has_every_format():
    assert get_args(Format) == FORMATS
    assert ModelConfig().format == DEFAULT


@pytest.mark.parametrize("format", FORMATS)
def test_a_format_has_all_that_is_looked_up(format):
    found = capabilities(format)
    assert (found.name, found.label.lower(), pruning_model(TableLayout(format)).format) == (format, format, format)
    assert ModelConfig(format=format).format == table_format_of(format) == format
    assert found.retention.property in known_properties(format)
    assert {found.marking.property, found.change_feed_property or found.marking.property} <= known_properties(
        format
    ).keys()
    assert {each.shape for each in PLANS if each.format == format} == set(get_args(Shape))
    assert list(rules(format).clause_faults(DeclaredTable())) == []
    assert UNALTERABLE[format].not_null


@pytest.mark.parametrize("name", ["parquet", "Delta", "", None])
def test_another_name_is_no_table_format(name):
    assert table_format_of(name) is None


def test_the_text_for_one_table():
    assert [capabilities(format).a_table for format in FORMATS] == ["a Delta table", "an Iceberg table"]
