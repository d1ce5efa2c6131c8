"""Artifacts of the target folder and of --state, which a check-out may bring: never an internal error, never a hang."""

import gzip
import json
import os
from pathlib import Path

import pytest

from merge_runner.api.pages import _compiled, _freshness, write_run_report
from merge_runner.errors import ProblemsError
from merge_runner.graph.selection.state import read_manifest, read_results
from merge_runner.pages.runs.history import kept_runs
from merge_runner.run.results.previous_run import last_invocation, recorded_durations
from merge_runner.run.reuse.records import Records
from tests.security.hostile_project import run, write_hostile

CONTENTS = {
    "brackets": b"[" * 60_000,
    "nested results": b'{"results": ' + b"[" * 60_000,
    "null": b"null",
    "list": b"[]",
    "NaN": b'{"results": [{"unique_id": "a", "execution_time": NaN, "status": "success"}]}',
    "huge number": b'{"results": [{"unique_id": "a", "execution_time": 1e999, "status": "success"}]}',
    "huge integer": b'{"results": [{"unique_id": "a", "execution_time": ' + b"9" * 400 + b', "status": "success"}]}',
    "longer integer": b'{"results": ' + b"9" * 5000 + b"}",
    "types": b'{"format": 3, "records": {"a": {"fingerprint": 1}}, "results": {"a": 1}, "nodes": 1, "sources": []}',
    "records": b'{"format": 3, "records": [1], "results": [1], "nodes": [1]}',
    "day": b'{"format": 3, "records": {"a": {"fingerprint": {}, "inputs": {}, "target": null, "left": null, '
    b'"version": 1e999, "invocation_id": "", "at": "2026-01-01T00:00:00Z", "day": [1e999, "x"]}}}',
    "not UTF-8": b"\xff\xfe",
    "surrogate": b'{"results": [{"unique_id": "\\ud800", "status": {}, "compiled_code": "\\ud800"}]}',
}
FILES = ("reuse.json", "run_results.json", "manifest.json", "sources.json", "journal.jsonl")


def _write(folder: Path, kind: str) -> None:
    folder.mkdir(parents=True)
    for name in FILES:
        if kind == "pipe":
            os.mkfifo(folder / name)
        elif kind == "folder":
            (folder / name).mkdir()
        elif kind == "endless":
            (folder / name).symlink_to("/dev/zero")
        else:
            (folder / name).write_bytes(CONTENTS[kind])


KINDS = [*CONTENTS, "pipe", "folder", "endless"]


@pytest.mark.parametrize("kind", KINDS)
def test_what_reads_artifacts(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target"
    _write(target, kind)
    assert Records(target / "reuse.json").get("a") is None
    assert all(isinstance(seconds, float) for seconds in recorded_durations(target / "run_results.json").values())
    assert isinstance(_compiled(target / "run_results.json"), dict)
    assert isinstance(_freshness(target / "sources.json"), dict)
    for read in (read_manifest, read_results, last_invocation):
        try:
            read(target)
        except ProblemsError as error:
            assert {problem.code for problem in error.problems} <= {"bad-state", "no-run-results"}


@pytest.mark.parametrize("kind", ["brackets", "types", "pipe", "endless"])
@pytest.mark.parametrize(
    "command", [["docs", "generate"], ["retry"], ["report"], ["ls", "--state", "target", "-s", "state:modified"]]
)
def test_commands_that_read_artifacts(tmp_path: Path, kind: str, command: list[str]) -> None:
    project = write_hostile(tmp_path)
    _write(project / "target", kind)
    ran = run(project, command, tmp_path)
    assert ran.returncode in (0, 2)
    assert "internal" not in ran.stderr


NODE = {"id": "model.shop.a", "name": "a", "status": "success", "seconds": 1.0}
RECORD = {
    "version": 1,
    "id": "0" * 32,
    "project": "shop",
    "target": "dev",
    "command": "build",
    "started_at": "2026-01-01T00:00:00+00:00",
    "seconds": 1.0,
    "ok": True,
    "threads": 1,
    "nodes": [NODE],
}
RECORDS = {
    "no nodes": {**RECORD, "nodes": None},
    "another node": {**RECORD, "nodes": [1]},
    "no target": {key: value for key, value in RECORD.items() if key != "target"},
    "number as text": {**RECORD, "seconds": "1"},
    "huge number": {**RECORD, "seconds": 10**400},
    "status": {**RECORD, "nodes": [{**NODE, "status": "odd"}]},
    "response": {**RECORD, "nodes": [{**NODE, "response": []}]},
    "figures": {**RECORD, "nodes": [{**NODE, "response": {"files_total": "many"}}]},
    "versions": {**RECORD, "nodes": [{**NODE, "versions": [1]}]},
    "list": [],
}


@pytest.mark.parametrize("name", RECORDS)
def test_a_record_of_another_shape_is_passed_over(tmp_path: Path, name: str) -> None:
    _keep(tmp_path, gzip.compress(json.dumps(RECORDS[name]).encode()))
    assert list(kept_runs(tmp_path)) == []


def test_a_record_of_the_right_shape_is_read(tmp_path: Path) -> None:
    _keep(tmp_path, gzip.compress(json.dumps(RECORD).encode()))
    assert [kept.record for kept in kept_runs(tmp_path)] == [RECORD]
    assert write_run_report(tmp_path).exists()


@pytest.mark.parametrize("text", [b"[" * 60_000, b" " * (65 << 20)], ids=["deep", "bomb"])
def test_a_compressed_record_that_is_none(tmp_path: Path, text: bytes) -> None:
    _keep(tmp_path, gzip.compress(text))
    assert list(kept_runs(tmp_path)) == []


@pytest.mark.parametrize("content", [b"", b"x"])
def test_a_record_that_is_none(tmp_path: Path, content: bytes) -> None:
    _keep(tmp_path, content)
    assert list(kept_runs(tmp_path)) == []


def _keep(target: Path, content: bytes) -> None:
    (target / "runs").mkdir()
    (target / "runs" / "20260101T000000000000Z-00000000.json.gz").write_bytes(content)


@pytest.mark.parametrize("length", [200, 235, 245, 250])
def test_a_model_with_a_long_name(tmp_path: Path, length: int) -> None:
    name = "m" * length
    yaml = f"models: [{{name: {name}, columns: [{{name: id, data_tests: [unique, not_null]}}]}}]\n"
    unit = f"unit_tests: [{{name: {'u' * 60}, model: {name}, given: [], expect: {{rows: [{{id: 1}}]}}}}]\n"
    files = {f"models/{name}.sql": "select 1 as id", "models/m.yml": yaml + unit}
    project = write_hostile(tmp_path, files)
    for command in (["lint"], ["compile"], ["parse"], ["docs", "generate"]):
        ran = run(project, command, tmp_path)
        assert ran.returncode in (0, 2)
        assert "internal" not in ran.stderr
