import pytest

from merge_runner.formats import confs
from merge_runner.formats.lines import RECOMMENDED
from merge_runner.formats.presets import Preset, low_shuffle, row_concurrency
from merge_runner.formats.rules import rules


@pytest.mark.parametrize(
    ("table_format", "platform", "on", "off"),
    [
        (
            "delta",
            "oss",
            Preset({"delta.enableDeletionVectors": "true"}),
            Preset({"delta.enableDeletionVectors": "false"}),
        ),
        (
            "delta",
            "fabric",
            Preset(conf={"spark.microsoft.delta.merge.lowShuffle.enabled": "true"}),
            Preset(conf={"spark.microsoft.delta.merge.lowShuffle.enabled": "false"}),
        ),
        (
            "delta",
            "databricks",
            Preset(conf={"spark.databricks.delta.merge.enableLowShuffle": "true"}),
            Preset(conf={"spark.databricks.delta.merge.enableLowShuffle": "false"}),
        ),
        (
            "iceberg",
            "fabric",
            Preset({"write.merge.mode": "merge-on-read"}),
            Preset({"write.merge.mode": "copy-on-write"}),
        ),
    ],
)
def test_what_enables_and_disables_low_shuffle(table_format, platform, on, off):
    found = [low_shuffle(table_format, platform, on=value) for value in (True, False)]
    assert found == [on, off]
    for each in found:
        assert [
            rules(table_format).property_fault(key, value, None, RECOMMENDED) for key, value in each.properties.items()
        ] in (
            [],
            [None],
        )
        assert all(key in confs.INSTEAD for key in each.conf)  # open source would not read them


@pytest.mark.parametrize(
    ("table_format", "platform", "preset"),
    [
        ("delta", "databricks", Preset({"delta.enableDeletionVectors": "true"})),
        ("delta", "oss", Preset()),
        ("delta", "fabric", Preset()),
        ("iceberg", "databricks", Preset()),
    ],
)
def test_only_databricks_detects_conflicts_by_row(table_format, platform, preset):
    assert row_concurrency(table_format, platform) == preset
