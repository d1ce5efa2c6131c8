"""Delta tables whose commits a catalog decides: the files of their log are not all of their commits (Delta 4.4.0).

With the table feature `catalogManaged`, a commit is in `_delta_log/_staged_commits` or in the catalog alone until it is
published: what the files say may be older than the table. The feature is set when a table is created, and stays. Delta
makes an empty folder `_staged_commits` for other tables, too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from merge_runner.engine.spark.errors import EngineError, engine_errors
from merge_runner.relation import Relation

FEATURES = frozenset({"catalogManaged", "catalogOwned-preview"})
"""The names of the feature in the protocol of a table, the one of previews included."""


def is_catalog_managed(log: Path) -> bool:
    """Return whether the log in a local folder says that a catalog decides the commits of its table.

    The first commit says it; where it has been cleaned up, the checksum file of the newest one.
    """
    first, checksums = log / f"{0:020}.json", sorted(log.glob("[0-9]*.crc"), reverse=True)
    source = first if first.exists() else next(iter(checksums), None)
    try:
        lines = source.read_text(encoding="utf-8").splitlines() if source is not None else []
        documents = [json.loads(line) for line in lines if line.strip()]
        return not FEATURES.isdisjoint(name for document in documents for name in _features(document))
    except (OSError, ValueError, TypeError, AttributeError):
        return False  # cleaned up meanwhile, or no log of Delta's


def published(state: Any, table: Relation) -> Any:
    """Return a snapshot of the JVM of which each commit is a file of the log.

    Raises EngineError `catalog-managed` for another one.
    """
    with engine_errors():
        names = str(state.protocol().readerAndWriterFeatureNames().mkString(","))
    if FEATURES.isdisjoint(names.split(",")):
        return state
    raise EngineError(
        "catalog-managed",
        f"the commits of {table} are managed by its catalog (delta.feature.catalogManaged): its log may not have the "
        "newest ones, so that what was committed cannot be told",
        hint="build into a table without the feature; as a source the table can be read",
    )


def _features(document: dict[str, Any]) -> list[str]:
    protocol = document.get("protocol") or {}
    return [*(protocol.get("readerFeatures") or ()), *(protocol.get("writerFeatures") or ())]
