"""What Delta and Iceberg can and cannot do, as data: each row with its source, and a test that shows it."""

from typing import Literal

Format = Literal["delta", "iceberg"]

DEFAULT: Format = "delta"
"""The format of a table for which nothing sets one."""
