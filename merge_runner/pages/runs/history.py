"""The records of runs that are kept in the target folder: one gzipped file each, a bounded number of them."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from merge_runner.atomic import write_atomic
from merge_runner.pages.html import gzipped
from merge_runner.project.schema.batches import BatchSize
from merge_runner.project_file import Boundary, read_file

FOLDER = "runs"
KEPT = 50
"""Runs that are kept: some weeks of nightly builds, and for 1,000 models some 3 MB."""
_NAME = re.compile(r"\d{8}T\d{12}Z-[0-9a-f]{8}\.json\.gz")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d)?", re.ASCII)
_VERSION = 1
_LONGEST = 64 << 20
"""Bytes of a record as text: of 10,000 models it has some 10 MB; a gzipped file may hold a thousand times its size."""
_MOST = 1e18
_IDLE = ("no-op", "skipped")
FAILED = ("error", "fail", "partial success")
_STATUSES = ("success", "pass", "warn", *_IDLE, *FAILED)


@dataclass(frozen=True)
class KeptRun:
    """A record as it is kept: its bytes, and its values."""

    packed: bytes
    record: Mapping[str, Any]


@dataclass(frozen=True)
class LastResult:
    """How a node ended in the last run that it was part of, which began `at`: its entry in the record of that run.

    `work` is the last result of the node that did something, where this one did not. `compiled_code` and `run_path`,
    below the target folder, are its compiled text and the file of that which ran; None where those of that run are not
    there any more.
    """

    at: str
    entry: Mapping[str, Any]
    work: LastResult | None = None
    compiled_code: str | None = None
    run_path: str | None = None

    @property
    def is_idle(self) -> bool:
        """Whether nothing was done: nothing had to be, or the node was skipped."""
        return self.entry["status"] in _IDLE


def keep(target: Path, record: Mapping[str, Any]) -> None:
    """Add the record of a run, and remove the oldest of too many. Raises OSError."""
    started = re.sub(r"[^0-9T]", "", record["started_at"].partition("+")[0].rstrip("Z"))
    stamp = f"{started[:15]}{started[15:21]:0<6}Z"
    identity = re.sub(r"[^0-9a-f]", "", record["id"].lower())[:8].ljust(8, "0")
    path = target / FOLDER / f"{stamp}-{identity}.json.gz"
    write_atomic(path, gzipped({"version": _VERSION, **record}), below=target)
    for old in _paths(target)[KEPT:]:
        old.unlink(missing_ok=True)


def kept_runs(target: Path, most: int = KEPT) -> Iterator[KeptRun]:
    """Yield the records that are kept, newest first; what no run has written is passed over."""
    for path in _paths(target)[:most]:
        try:
            content = read_file(path, Boundary(target))
        except OSError:
            continue
        record = _read_record(content)
        if record is not None:
            yield KeptRun(content, record)


def packed(record: Mapping[str, Any]) -> str:
    """Return a record as a text, for where no file is."""
    return base64.b64encode(gzipped({"version": _VERSION, **record})).decode()


def unpacked(text: str) -> Mapping[str, Any] | None:
    """Return the record that `packed` has made a text of; None for what no run has written."""
    try:
        return _read_record(base64.b64decode(text, validate=True))
    except ValueError:
        return None


def _read_record(content: bytes) -> Mapping[str, Any] | None:
    try:
        reader = zlib.decompressobj(wbits=31)  # of gzip
        text = reader.decompress(content, _LONGEST)
        record = json.loads(text) if reader.eof else None
    except (ValueError, RecursionError, zlib.error):
        return None
    return record if _is_record(record) else None


_TEXT, _NUMBER = str, (int, float)
_OF_RECORDS: Mapping[str, Any] = {
    **dict.fromkeys(("id", "project", "target", "command", "started_at"), _TEXT),
    "version": int,
    "seconds": _NUMBER,
    "nodes": list,
}
_OF_NODES: Mapping[str, Any] = dict.fromkeys(("id", "name", "status"), _TEXT)
_OF_SOME_NODES: Mapping[str, Any] = {
    "seconds": _NUMBER,
    "message": _TEXT,
    "response": dict,
    "versions": list,
    "difference": dict,
    "batches": list,
}
_OF_SOME_RESPONSES: Mapping[str, Any] = {
    **dict.fromkeys(("files_scanned", "files_total", "bytes_scanned", "execution_ms"), _NUMBER),
    **dict.fromkeys(("rows_inserted", "rows_updated", "rows_deleted", "rows_copied"), _NUMBER),
    **dict.fromkeys(("verdict", "operation"), _TEXT),
    "verdict_held": bool,
    "predicted": dict,
}
_OF_BATCHES: Mapping[str, Any] = dict.fromkeys(("start", "end", "reason", "status"), _TEXT)
_OF_SOME_BATCHES: Mapping[str, Any] = {"rows": int, "seconds": _NUMBER, "message": _TEXT, "version": _TEXT}
_OF_SOME_DIFFERENCES: Mapping[str, Any] = {"rows": dict, "columns": dict, "schema": dict, "error": _TEXT}
"""The types of what is read of a record, of its nodes and of their responses; what some have may be null."""


def _is_record(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("version") != _VERSION or not _has(value, _OF_RECORDS):
        return False
    return isinstance(value.get("ok"), bool) and all(map(_is_node, value["nodes"]))


def _is_node(value: Any) -> bool:
    if not isinstance(value, dict) or not _has(value, _OF_NODES) or not _may_have(value, _OF_SOME_NODES):
        return False
    versions = value.get("versions") or []
    if not all(isinstance(version, dict) and "version" in version for version in versions):
        return False
    if not _is_difference(value.get("difference") or {}):
        return False
    batches = value.get("batches") or []
    if not all(map(_is_batch, batches)) or (batches and value.get("batch_size") not in get_args(BatchSize)):
        return False
    return value["status"] in _STATUSES and _may_have(value.get("response") or {}, _OF_SOME_RESPONSES)


def _is_batch(value: Any) -> bool:
    if not isinstance(value, dict) or not _has(value, _OF_BATCHES) or not _may_have(value, _OF_SOME_BATCHES):
        return False
    return value["status"] in _STATUSES and all(_TIME.fullmatch(value[key]) for key in ("start", "end"))


def _is_difference(value: Any) -> bool:
    """Whether a value is a comparison with the version before a run; empty: none was made."""
    if not isinstance(value, dict) or not _may_have(value, _OF_SOME_DIFFERENCES):
        return False
    counts = [*(value.get("rows") or {}).values(), *(value.get("columns") or {}).values()]
    schema = value.get("schema") or {}
    names = [schema.get(side) or [] for side in ("only_left", "only_right")]
    are_lists = all(isinstance(side, list) and all(isinstance(name, str) for name in side) for side in names)
    return all(_is_of(count, int) for count in counts) and are_lists and isinstance(schema.get("types") or {}, dict)


def _has(value: Mapping[str, Any], types: Mapping[str, Any]) -> bool:
    return all(_is_of(value.get(key), type_) for key, type_ in types.items())


def _may_have(value: Mapping[str, Any], types: Mapping[str, Any]) -> bool:
    return all(value.get(key) is None or _is_of(value[key], type_) for key, type_ in types.items())


def _is_of(value: Any, type_: Any) -> bool:
    # A number that no run counts to is none: a float cannot hold it, or it is infinite.
    return isinstance(value, type_) and (not isinstance(value, (int, float)) or abs(value) < _MOST)


def last_results(target: Path, name: str) -> dict[str, LastResult]:
    """Return the last result of each node in the kept runs of a target, by id."""
    results: dict[str, LastResult] = {}
    for run in kept_runs(target):
        if run.record["target"] == name:
            for entry in run.record["nodes"]:
                older = LastResult(run.record["started_at"], entry)
                newest = results.setdefault(entry["id"], older)
                if newest.is_idle and newest.work is None and not older.is_idle:
                    results[entry["id"]] = replace(newest, work=older)
    return results


def known_versions(target: Path, name: str, nodes: frozenset[str]) -> dict[str, str]:
    """Return the key of the newest commit of each node's table that the kept runs of a target have read."""
    versions: dict[str, str] = {}
    for run in kept_runs(target):
        if run.record["target"] == name:
            for entry in run.record["nodes"]:
                if entry["id"] in nodes and entry.get("versions"):
                    versions.setdefault(entry["id"], version_key(entry["versions"][0]))
        if versions.keys() >= nodes:
            break
    return versions


def version_key(commit: Mapping[str, Any]) -> str:
    """Return what identifies a commit of a table: a table that was replaced counts its versions from 0 again."""
    return f"{commit['version']} {commit.get('at')}"


def _paths(target: Path) -> list[Path]:
    folder = target / FOLDER
    paths = [path for path in folder.iterdir() if _NAME.fullmatch(path.name)] if folder.is_dir() else []
    return sorted(paths, reverse=True)
