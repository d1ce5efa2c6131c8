"""How Iceberg keeps what a session writes on a branch of its own (write-audit-publish), as data.

Source: Iceberg 1.12.0, SparkTableUtil.determineWriteBranch and determineReadBranch; measured on Spark 4.1.
"""

from __future__ import annotations

MAIN = "main"
"""The branch that every table has from its first snapshot on, and that readers see who name none."""

CONF = "spark.wap.branch"
PROPERTY = "write.wap.enabled"
"""A session with the conf writes the branch that it names in every table where the property is true, and reads it where
it is there, else main. The property alone changes nothing, nor does the conf for any other table."""
