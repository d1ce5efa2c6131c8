"""The newest commit to a Delta table that may have changed rows or columns, read from its log without an engine.

A commit of Delta is a file of JSON lines that is put into place whole, and whose `commitInfo` has a `txnId` of its own
(Delta 4.4.0).
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from merge_runner.engine.table_format.stored_version import StoredVersion

_SAME_ROWS = frozenset({"OPTIMIZE", "VACUUM START", "VACUUM END"})
"""Operations after which the table has the same rows, where no action of the commit says otherwise."""


def stored_version(folder: Path) -> StoredVersion | None:
    """Return the commit of the table in a folder; None where there is none, or its file was cleaned up."""
    names = (path.stem for path in (folder / "_delta_log").glob("[0-9]*.json"))
    try:
        for version in sorted((int(name) for name in names if name.isdecimal()), reverse=True):
            text = (folder / "_delta_log" / f"{version:020}.json").read_bytes()
            actions = [json.loads(line) for line in text.splitlines() if line.strip()]
            info: dict[str, Any] = next((action["commitInfo"] for action in actions if "commitInfo" in action), {})
            if info.get("operation") in _SAME_ROWS and not any(map(_changes_data, actions)):
                continue
            return StoredVersion(version, hashlib.sha256(text).hexdigest()[:32], info.get("userMetadata"))
    except (OSError, ValueError, TypeError, AttributeError):
        pass  # cleaned up meanwhile, or no log of Delta's: nothing is known of it
    return None


def _changes_data(action: dict[str, Any]) -> bool:
    """Whether an action adds or removes a file with other rows than before, or changes the table's metadata."""
    file = action.get("add") or action.get("remove") or {}
    return bool(file.get("dataChange", False)) or "metaData" in action or "protocol" in action
