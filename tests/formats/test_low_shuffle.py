import pytest

from merge_runner.formats import confs, properties
from merge_runner.formats.implied import Implied
from merge_runner.formats.low_shuffle import low_shuffle


@pytest.mark.parametrize(
    ("table_format", "platform", "on", "off"),
    [
        (
            "delta",
            "oss",
            Implied({"delta.enableDeletionVectors": "true"}),
            Implied({"delta.enableDeletionVectors": "false"}),
        ),
        (
            "delta",
            "fabric",
            Implied(conf={"spark.microsoft.delta.merge.lowShuffle.enabled": "true"}),
            Implied(conf={"spark.microsoft.delta.merge.lowShuffle.enabled": "false"}),
        ),
        (
            "delta",
            "databricks",
            Implied(conf={"spark.databricks.delta.merge.enableLowShuffle": "true"}),
            Implied(conf={"spark.databricks.delta.merge.enableLowShuffle": "false"}),
        ),
        (
            "iceberg",
            "fabric",
            Implied({"write.merge.mode": "merge-on-read"}),
            Implied({"write.merge.mode": "copy-on-write"}),
        ),
    ],
)
def test_what_switches_it_on_and_off(table_format, platform, on, off):
    found = [low_shuffle(table_format, platform, on=value) for value in (True, False)]
    assert found == [on, off]
    for each in found:
        assert [properties.fault(table_format, key, value) for key, value in each.properties.items()] in ([], [None])
        assert all(key in confs.INSTEAD for key in each.conf)  # open source would not read them
