import pytest

from merge_runner.formats.implied import Implied
from merge_runner.formats.row_concurrency import row_concurrency


@pytest.mark.parametrize(
    ("table_format", "platform", "implied"),
    [
        ("delta", "databricks", Implied({"delta.enableDeletionVectors": "true"})),
        ("delta", "oss", Implied()),
        ("delta", "fabric", Implied()),
        ("iceberg", "databricks", Implied()),
    ],
)
def test_only_databricks_tells_conflicts_by_rows(table_format, platform, implied):
    assert row_concurrency(table_format, platform) == implied
