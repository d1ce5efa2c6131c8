"""The lines of Spark: what names them."""

import pytest

from merge_runner.formats.lines import LINES, line_of


@pytest.mark.parametrize(
    ("version", "spark"),
    [
        ("4.1.4", "4.1"),
        ("3.5.1-amzn-2", "3.5"),
        ("4.0", "4.0"),
        ("4.10.0", None),
        ("3.4.1", None),
        ("", None),
        (None, None),
    ],
)
def test_a_release_belongs_to_the_line_of_its_minor_version(version, spark):
    assert line_of(version) is (LINES[spark] if spark else None)
