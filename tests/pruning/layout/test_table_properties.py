"""Which columns of a Delta table have statistics, by its properties."""

import pytest

from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.layout.table_properties import with_properties


@pytest.mark.parametrize(
    ("properties", "statistics", "indexed"),
    [
        ({}, None, 32),
        ({"delta.dataSkippingNumIndexedCols": "5"}, None, 5),
        ({"DELTA.DATASKIPPINGNUMINDEXEDCOLS": "-1"}, None, -1),
        ({"delta.dataSkippingNumIndexedCols": "many"}, None, None),
        ({"delta.dataSkippingStatsColumns": "dt, a.b,`x,y`"}, ("dt", "a.b", "x,y"), 32),
        ({"delta.dataSkippingStatsColumns": "dt", "delta.dataSkippingNumIndexedCols": "0"}, ("dt",), 32),
    ],
)
def test_delta_names_columns_or_counts_them(properties, statistics, indexed):
    layout = with_properties(TableLayout(format="delta"), properties)
    assert (layout.statistics, layout.indexed, layout.properties) == (statistics, indexed, properties)


def test_another_format_keeps_the_properties_alone():
    layout = with_properties(TableLayout(format="iceberg"), {"delta.dataSkippingNumIndexedCols": "5"})
    assert (layout.indexed, layout.statistics) == (32, None)
    assert layout.properties == {"delta.dataSkippingNumIndexedCols": "5"}
