"""Whatever the files of an earlier run hold, what reads them says so and goes on, or ends with status 2; never a fault."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from merge_runner.cli.host import Host
from merge_runner.cli.main import main
from merge_runner.errors import ProblemsError
from merge_runner.run.results.previous_run import last_invocation, recorded_durations
from tests.fake_engine import Starts

pytestmark = pytest.mark.fuzz("journals and artifacts")

FAULTS = ("Traceback (most recent call last)", "[internal]", "RecursionError")
IDS = ["model.shop.a", "model.shop.b", "model.shop.gone", "", "x"]
STATUSES = ["success", "error", "fail", "warn", "skipped", "pass", "no-op", "done", ""]
KEYS = [
    *(
        "results",
        "args",
        "metadata",
        "which",
        "unique_id",
        "status",
        "invocation_id",
        "command",
        "nodes",
        "node",
        "event",
    ),
    *("result", "select", "threads", "vars_text", "retried", "execution_time", "sources", "macros", "unit_tests"),
    *(
        "depends_on",
        "config",
        "alias",
        "schema",
        "checksum",
        "columns",
        "resource_type",
        "materialized",
        "format",
        *IDS,
    ),
]
WORDS = st.sampled_from(
    [*IDS, *STATUSES, "build", "run", "stream", "invocation_started", "node_started", "node_finished", "model", "view"]
)
SCALARS = st.none() | st.booleans() | st.integers(-1, 3) | st.floats() | WORDS
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=25,
)
RESULT = st.fixed_dictionaries(
    {"unique_id": WORDS | DATA, "status": WORDS | DATA}, optional={"execution_time": SCALARS}
)
RESULTS = st.fixed_dictionaries(
    {
        "metadata": st.fixed_dictionaries({"invocation_id": WORDS | DATA}),
        "args": st.fixed_dictionaries(
            {"which": WORDS | DATA}, optional=dict.fromkeys(("select", "retried", "threads"), DATA)
        ),
        "results": st.lists(RESULT, max_size=4),
    }
)
EVENT = st.fixed_dictionaries(
    {"event": WORDS},
    optional={"node": WORDS, "invocation_id": WORDS, "command": WORDS, "args": DATA, "nodes": DATA, "result": DATA},
)
RAW = [
    b"",
    b"\0",
    b"\xff\xfe{",
    b"{",
    b"null",
    b"[]",
    b'"x"',
    b"1e999",
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b'{"results": [' + b'{"unique_id": "a"},' * 10 + b"null]}",
    b'{"results": 1, "args": {}, "metadata": {}}',
    '{"results": [{"unique_id": "\ud800"}]}'.encode("utf-8", "surrogatepass"),
    b"9" * 10_000,
]


def read(folder: Path) -> None:
    """What `retry` and the scheduler make of the folder."""
    try:
        last = last_invocation(folder)
    except ProblemsError as error:
        assert all(problem.message for problem in error.problems)
    else:
        assert last.id
        assert last.command in ("build", "run", "test", "optimize")
        assert all(isinstance(node, str) and node for node in (*last.undone, *last.invocations))
        assert last.started_nodes <= set(last.undone)
    durations = recorded_durations(folder / "run_results.json")
    assert all(isinstance(node, str) and math.isfinite(seconds) for node, seconds in durations.items())


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("target")


@pytest.mark.parametrize("name", ["run_results.json", "journal.jsonl"])
@pytest.mark.parametrize("raw", RAW, ids=range(len(RAW)))
def test_a_file_that_is_none(tmp_path, name, raw):
    (tmp_path / name).write_bytes(raw)
    read(tmp_path)


@given(RESULTS | DATA)
def test_results_may_hold_anything(folder, value):
    (folder / "journal.jsonl").unlink(missing_ok=True)
    (folder / "run_results.json").write_text(json.dumps(value))
    read(folder)


@given(st.lists(EVENT | DATA, max_size=6), st.integers(0, 40))
def test_a_journal_may_hold_anything_and_be_torn(folder, events, torn):
    (folder / "run_results.json").unlink(missing_ok=True)
    text = "".join(json.dumps(event) + "\n" for event in events)
    (folder / "journal.jsonl").write_text(text[: len(text) - torn])
    read(folder)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A project, and what a run of it leaves: one file for each beginning of its journal is what a kill may leave."""
    root = tmp_path_factory.mktemp("shop")
    files = {
        "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
        "profiles.yml": "shop: {outputs: {dev: {schema: shop}}}\n",
        "models/a.sql": "{{ config(materialized='view') }} select 1 as id",
        "models/b.sql": "{{ config(materialized='table') }} select * from {{ ref('a') }}",
    }
    for path, text in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    return root


def test_every_beginning_of_a_journal(tmp_path, fuzzed):
    nodes = ["model.shop.a", "model.shop.b"]
    events = [
        {"event": "invocation_started", "invocation_id": "i", "command": "build", "args": {}, "nodes": nodes},
        {"event": "node_started", "node": "model.shop.a"},
        {"event": "node_finished", "node": "model.shop.a", "result": {"status": "success"}},
        {"event": "node_started", "node": "model.shop.b"},
        {"event": "node_finished", "node": "model.shop.b", "result": {"status": "error"}},
        {"event": "invocation_finished"},
    ]
    lines = [json.dumps(event) + "\n" for event in events]
    text = "".join(lines)
    ends = [sum(map(len, lines[: number + 1])) for number in range(len(lines))]
    for cut in range(len(text) + 1):
        (tmp_path / "journal.jsonl").write_text(text[:cut])
        whole = sum(cut >= end - 1 for end in ends)  # the last newline may be missing
        try:
            last = last_invocation(tmp_path)
        except ProblemsError:
            assert whole in (0, len(lines))
            continue
        assert 0 < whole < len(lines)
        # A node counts as done only where the journal says so in full; of all others their tables are asked.
        assert last.undone == tuple(nodes if whole < 3 else nodes[1:])
        assert last.started_nodes == set(last.undone)
    fuzzed(len(text) + 1)


@pytest.fixture
def command(built, monkeypatch, capfd, tmp_path):
    """A command in this process, which starts no Spark; gives its exit status."""

    def run(*words: str) -> int:
        monkeypatch.chdir(built)
        monkeypatch.setenv("HOME", str(tmp_path))
        with pytest.raises(SystemExit) as end:
            main([*words, "--target-path", str(built / "target")], Host(start=Starts()))
        out, err = capfd.readouterr()
        assert not any(fault in out + err for fault in FAULTS), err[-2_000:]
        assert end.value.code in (0, 1, 2)
        assert end.value.code != 2 or "error: " in err
        return end.value.code

    return run


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DATA | RESULTS, st.dictionaries(st.sampled_from(["nodes", "sources", "macros", "unit_tests", "x"]), DATA))
def test_a_state_may_hold_anything(built, command, results, manifest):
    state = built / "state"
    state.mkdir(exist_ok=True)
    (state / "run_results.json").write_text(json.dumps(results))
    entries = {"nodes": {"model.shop.a": manifest, "model.shop.b": results}} if len(manifest) > 2 else {}
    empty = {key: {} for key in ("nodes", "sources", "macros", "unit_tests")}
    (state / "manifest.json").write_text(json.dumps({**(empty if len(manifest) % 2 else {}), **manifest, **entries}))
    command("ls", "-s", "state:modified", "result:error", "--state", "state")
    command("compile", "-s", "b", "--defer", "--state", "state")
    (built / "target").mkdir(exist_ok=True)
    (built / "target/run_results.json").write_text(json.dumps(results))
    command("retry")


@pytest.mark.parametrize(
    "parents", [["model.shop.a"], [f"model.shop.v{number}" for number in range(3)]], ids=["a circle", "a chain"]
)
def test_views_of_a_state_without_an_end(built, command, parents):
    entry = {"resource_type": "model", "config": {"materialized": "view"}, "alias": "a", "schema": "s"}
    chain = {
        f"model.shop.v{number}": {**entry, "depends_on": {"nodes": [f"model.shop.v{number + 1}"]}}
        for number in range(5_000)
    }
    nodes = {"model.shop.a": {**entry, "depends_on": {"nodes": parents}}, **chain}
    state = built / "state"
    state.mkdir(exist_ok=True)
    (state / "manifest.json").write_text(json.dumps({"nodes": nodes, "sources": {}, "macros": {}}))
    assert command("compile", "-s", "b", "--defer", "--state", "state") == 2


@pytest.mark.parametrize("name", ["../../x", "a/b", "..", "x\0y", "a\\b"])
def test_a_state_names_no_table_outside_of_the_warehouse(built, command, name):
    entry = {"resource_type": "model", "config": {"materialized": "table"}, "alias": name, "schema": "s"}
    state = built / "state"
    state.mkdir(exist_ok=True)
    (state / "manifest.json").write_text(json.dumps({"nodes": {"model.shop.a": entry}, "sources": {}, "macros": {}}))
    assert command("compile", "-s", "b", "--defer", "--state", "state") == 2
