"""What benchmarks/demo.py makes of the journal: each case is about its own run."""

import json
from datetime import datetime, timezone

from benchmarks.demo import parts

START = 1_800_000_000.0


def test_each_case_is_about_its_own_run(tmp_path):
    for path in (tmp_path / ".venv/pyvenv.cfg", tmp_path / ".venv/.demo", tmp_path / "target/journal.jsonl"):
        path.parent.mkdir(exist_ok=True)
        path.touch()
    first = [
        event("invocation_started", 5),
        event("spark_started", 15),
        event("node_finished", 60, name="fct_flight", result={"status": "success", "execution_time": 44.0}),
        event("invocation_finished", 61),
    ]
    same = [
        event("invocation_started", 101),
        event("node_finished", 102, name="fct_flight", result={"status": "no-op", "execution_time": 0.0}),
        event("invocation_finished", 103),
    ]
    (tmp_path / "target/journal.jsonl").write_text("".join(json.dumps(each) + "\n" for each in (*first, *same)))
    lines = parts(tmp_path, START + 100, START + 104).splitlines()
    assert [line.split(maxsplit=2) for line in lines] == [
        ["1.0", "s", "Java, data, loading and planning"],
        ["2.0", "s", "nodes"],
        ["1.0", "s", "the end"],
        ["0", "nodes", "ran"],
    ]
    lines = parts(tmp_path, START, START + 62).splitlines()[:3]
    assert [line.split()[0] for line in lines] == ["5.0", "10.0", "46.0"]


def event(kind, seconds, **more):
    at = datetime.fromtimestamp(START + seconds, timezone.utc).isoformat()
    return {"event": kind, "at": at, **more}
