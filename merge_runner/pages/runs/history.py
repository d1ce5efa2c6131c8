"""The records of runs that are kept in the target folder: one gzipped file each, a bounded number of them."""

from __future__ import annotations

import base64
import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merge_runner.atomic import write_atomic
from merge_runner.pages.html import gzipped

FOLDER = "runs"
KEPT = 50
"""Runs that are kept: some weeks of nightly builds, and for 1,000 models some 3 MB."""
_NAME = re.compile(r"\d{8}T\d{12}Z-[0-9a-f]{8}\.json\.gz")
_VERSION = 1


@dataclass(frozen=True)
class KeptRun:
    """A record as it is kept: its bytes, and its values."""

    packed: bytes
    record: Mapping[str, Any]


def keep(target: Path, record: Mapping[str, Any]) -> None:
    """Add the record of a run, and remove the oldest of too many. Raises OSError."""
    started = re.sub(r"[^0-9T]", "", record["started_at"].partition("+")[0].rstrip("Z"))
    stamp = f"{started[:15]}{started[15:21]:0<6}Z"
    identity = re.sub(r"[^0-9a-f]", "", record["id"].lower())[:8].ljust(8, "0")
    write_atomic(target / FOLDER / f"{stamp}-{identity}.json.gz", gzipped({"version": _VERSION, **record}))
    for path in _paths(target)[KEPT:]:
        path.unlink(missing_ok=True)


def kept_runs(target: Path, most: int = KEPT) -> Iterator[KeptRun]:
    """Yield the records that are kept, newest first; what no run has written is passed over."""
    for path in _paths(target)[:most]:
        try:
            content = path.read_bytes()
        except OSError:
            continue
        record = _read(content)
        if record is not None:
            yield KeptRun(content, record)


def packed(record: Mapping[str, Any]) -> str:
    """Return a record as a text, for where no file is."""
    return base64.b64encode(gzipped({"version": _VERSION, **record})).decode()


def unpacked(text: str) -> Mapping[str, Any] | None:
    """Return the record that `packed` has made a text of; None for what no run has written."""
    try:
        return _read(base64.b64decode(text, validate=True))
    except ValueError:
        return None


def _read(content: bytes) -> Mapping[str, Any] | None:
    try:
        record = json.loads(gzip.decompress(content))
        return record if record["version"] == _VERSION and isinstance(record["nodes"], list) else None
    except (OSError, EOFError, ValueError, KeyError, TypeError, RecursionError, zlib.error):
        return None


def known_versions(target: Path, name: str, nodes: frozenset[str]) -> dict[str, str]:
    """Return the key of the newest commit of each node's table that the kept runs of a target have read."""
    found: dict[str, str] = {}
    for run in kept_runs(target):
        if run.record["target"] == name:
            for entry in run.record["nodes"]:
                if entry["id"] in nodes and entry.get("versions"):
                    found.setdefault(entry["id"], version_key(entry["versions"][0]))
        if found.keys() >= nodes:
            break
    return found


def version_key(commit: Mapping[str, Any]) -> str:
    """Return what identifies a commit of a table: a table that was replaced counts its versions from 0 again."""
    return f"{commit['version']} {commit.get('at')}"


def _paths(target: Path) -> list[Path]:
    folder = target / FOLDER
    found = [path for path in folder.iterdir() if _NAME.fullmatch(path.name)] if folder.is_dir() else []
    return sorted(found, reverse=True)
