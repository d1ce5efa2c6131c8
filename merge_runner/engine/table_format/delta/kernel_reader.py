"""Reading a Delta table through Delta's Kernel.

To find the files of a table, Delta's usual reader runs three queries over its log, which take 0.6 s of a table of ten
rows; the Kernel reads the log by itself, and the whole query takes 0.1 s. Delta 4.4.0 has it for tests and some streams
(`spark.databricks.delta.v2.enableMode`, DeltaSQLConf.scala): what is found wrong through it is looked at again.
"""

from __future__ import annotations

from collections.abc import Mapping

BY_KERNEL: Mapping[str, str] = {"spark.databricks.delta.v2.enableMode": "STRICT"}
"""Confs of a session that reads Delta tables so. It cannot read their change feeds."""
