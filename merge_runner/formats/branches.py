"""How Iceberg keeps what a session writes on a separate branch (write-audit-publish), as data.

Measured on Iceberg 1.12.0 and Spark 4.1.4, with and without a cache in the catalog: MERGE, INSERT, DELETE, UPDATE,
TRUNCATE and INSERT OVERWRITE write the branch, also its first snapshot; queries, views that others have made, and
EXPLAIN read it; `VERSION AS OF` reads what it names. The metadata tables `history` and `files` are
still those of main, `snapshots` has all branches. CREATE OR REPLACE TABLE AS SELECT writes the branch and leaves main
empty.
`fast_forward` creates main where it has no snapshot, changes nothing where it is there already, and refuses where main
has moved.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

MAIN = "main"
"""The branch that every table has from its first snapshot on, and that a reader sees that names none."""

CONF = "spark.wap.branch"
PROPERTY = "write.wap.enabled"
"""A session with the conf writes the branch that it names in every table where the property is true, and reads it where
it is there, else main. The property alone changes nothing, nor does the conf for any other table."""

GROUP_FILTER = "spark.sql.optimizer.runtime.rowLevelOperationGroupFilter.enabled"
"""Has a copy-on-write MERGE look first for the files with matches. On a branch that look reads main of an Iceberg
source (`branch=null` in its EXPLAIN): files whose matches are on the branch alone are left out, and their rows are
inserted again.
"""


def branch_confs(branch: str | None) -> Mapping[str, str]:
    """Return the confs of a session that writes and reads a branch; none for None."""
    return {CONF: branch, GROUP_FILTER: "false"} if branch is not None else {}


def branch_name(name: str) -> str:
    """The name, where a build may write a branch of that name. Raises ValueError, which says what it may be."""
    if name == MAIN:
        raise ValueError("main is what everybody reads: a build without a branch writes it")
    if not re.match(r"[A-Za-z0-9_][A-Za-z0-9_.-]*\Z", name):
        raise ValueError(f"a branch is named by letters, digits, `_`, `-` and `.`, not {name!r}")
    return name
