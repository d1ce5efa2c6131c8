"""How long a table keeps what it does not need, as its properties say."""

import pytest

from merge_runner.formats.registry import capabilities

DAY = 86_400


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("interval 3 days", 3 * DAY),
        ("INTERVAL 1 week 12 hours", 7.5 * DAY),
        ("30 days", 30 * DAY),
        ("interval 90 minutes", 5400),
        ("interval 1 month", 7 * DAY),
        ("3", 7 * DAY),
        ("", 7 * DAY),
    ],
)
def test_delta(said, seconds):
    assert capabilities("delta").retention.seconds({"delta.deletedFileRetentionDuration": said}) == seconds
    assert capabilities("delta").retention.seconds({"delta.deletedfileretentionduration": said}) == seconds


@pytest.mark.parametrize(("said", "seconds"), [("3600000", 3600), ("x", 5 * DAY), ("-1", 5 * DAY)])
def test_iceberg(said, seconds):
    assert capabilities("iceberg").retention.seconds({"history.expire.max-snapshot-age-ms": said}) == seconds


def test_without_the_property_the_formats_own_default_holds():
    assert (capabilities("delta").retention.seconds({}), capabilities("iceberg").retention.seconds({})) == (
        7 * DAY,
        5 * DAY,
    )
