"""How a local driver writes the files of this machine: by classes of merge-runner, which start no process for a file.

PySpark brings no native library of Hadoop. Without it Hadoop runs `chmod` for a file that it creates and `readlink` for
one that it looks up for a rename: 24 processes for a MERGE of Delta. In `PosixFileSystem.java` Java does both itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

GROUP = "local-files"
JAR = "merge-runner-local-files.jar"
CONFS: Mapping[str, str] = MappingProxyType(
    {
        "spark.hadoop.fs.file.impl": "mergerunner.LocalFiles",
        "spark.hadoop.fs.AbstractFileSystem.file.impl": "mergerunner.LocalFileContext",
    }
)
"""The confs of a driver that has the jar on its class path."""
