"""Projects on a real Spark Connect server, from an environment with its client alone: no PySpark, no py4j, no Java."""

import datetime as dt
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
import tomli
import yaml

from tests.connect_server import ConnectServer, Proxy
from tests.flights import expected
from tests.flights.project_copy import copy_of_days

pytestmark = [pytest.mark.nightly, pytest.mark.spark]
ROOT = Path(__file__).parents[2]
DEPENDENCIES = tuple(tomli.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"])
CLIENT = ("pyspark-client==4.1.*", *DEPENDENCIES)
"""What `merge-runner[connect]` installs."""
DAYS = (dt.date(2013, 1, 31), dt.date(2013, 2, 2))
KNOWN = dt.date(2013, 2, 3)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    # Streams of answers end each second, so that a client reattaches again and again.
    with ConnectServer(
        tmp_path_factory.mktemp("connect"),
        **{"spark.connect.execute.reattachable.senderMaxStreamDuration": "1s"},
    ) as running:
        yield running


@pytest.fixture
def without_java(client, tmp_path):
    """The Python of the client's environment, and environment variables in which no Java is found."""
    python = client(*CLIENT)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "JAVA", "SPARK"))}
    return python, env | {"PATH": f"{python.parent}", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "CI": "true"}


@pytest.fixture
def build(without_java, server, tmp_path):
    """Build a project as a client of the server does, and return what the script reports."""

    def run(root, name, schema, catalogs=None, **settings):
        output = {"remote": f"sc://127.0.0.1:{server.port}", "schema": schema, "catalogs": catalogs or {}}
        folder = tmp_path / f"profiles-{name}"
        folder.mkdir(exist_ok=True)
        (folder / "profiles.yml").write_text(yaml.safe_dump({name: {"outputs": {"far": output}, "target": "far"}}))
        python, env = without_java
        settings |= {"remote": output["remote"]}
        done = subprocess.run(
            [
                python,
                Path(__file__).parent / "scripts/with_connect.py",
                root,
                folder,
                json.dumps(settings, default=str),
            ],
            env=env,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:] + server.log[-3000:]
        return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("REPORT "))[7:])

    return run


def failed(report):
    return {
        name: each["message"] for name, each in report.items() if each["status"] not in ("success", "pass", "no-op")
    }


def test_flights_are_built_by_a_client_alone(build, tmp_path):
    root = copy_of_days(tmp_path / "flights", "2013,1,31,", "2013,2,1,")
    wanted = expected.tables(DAYS, as_of=KNOWN)
    variables = {"from": DAYS[0], "to": DAYS[1], "as_of": KNOWN}
    tables = [f"far_flights.{name}" for name in wanted]
    without = ["corrections_are_well_formed"]  # of flights that this copy leaves out
    report = build(root, "flights", "far_flights", exclude=without, vars=variables, builds=2, tables=tables)
    assert [failed(each) for each in report["builds"]] == [{}, {}]
    found = {name.partition(".")[2]: prints for name, prints in report["tables"].items()}
    assert found == {name: [len(rows), expected.fingerprint(rows).checksum] for name, rows in wanted.items()}
    first, second = ({name.rpartition(".")[2]: each for name, each in run.items()} for run in report["builds"])
    kinds = ("rows_inserted", "rows_updated", "rows_deleted")
    assert {name: [first[name][kind] for kind in kinds] for name in wanted} == {
        name: [len(rows), 0, 0] for name, rows in wanted.items()
    }
    assert all([second[name][kind] for kind in kinds] == [0, 0, 0] for name in wanted)
    fact = second["fct_flight"]
    assert fact["table_version"] is not None or fact["rows_affected"] == 0


@pytest.mark.parametrize(
    ("name", "select"),
    [("iceberg_writes", ("+spread_hash", "+copied", "+marked")), ("low_shuffle", ()), ("clauses", ())],
)
def test_examples_are_built_by_a_client_alone(build, tmp_path, server, name, select):
    root = shutil.copytree(
        ROOT / "examples" / name, tmp_path / name, ignore=shutil.ignore_patterns("target", "warehouse")
    )
    catalogs = {"ice": {"type": "hadoop", "warehouse": str(server.folder / "ice")}}
    report = build(root, name, f"far_{name}", catalogs, select=select, builds=2)
    assert [failed(each) for each in report["builds"]] == [{}, {}]
    assert all(report["builds"])


COUNTED = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
    # It takes some seconds, and counts twice where it is committed twice.
    "models/counted.sql": """
        merge into {{ this }} as t
        using (select r.id, cast(1 + 0 * c.n as bigint) as times from range(4) as r
               cross join (select count_if(sha2(cast(id as string), 512) = 'x') as n from range({{ var('rows', 1) }})) as c) as s
           on t.id = s.id
        when matched then update set times = t.times + s.times
        when not matched then insert *
    """,
}
SLOW = "{rows: 6000000}"


@pytest.fixture
def counted(without_java, tmp_path):
    """A project on the server at a port; gives a function that starts a command, and one that waits for an event of its journal."""
    root = tmp_path / "shop"
    for path, text in COUNTED.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    python, env = without_java
    journal = root / "target/journal.jsonl"

    def start(port, *words):
        output = {"remote": f"sc://127.0.0.1:{port}", "schema": "counted"}
        (root / "profiles.yml").write_text(yaml.safe_dump({"shop": {"outputs": {"far": output}}}))
        return subprocess.Popen(
            [python, "-m", "merge_runner", *words],
            cwd=root,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def begun(event, since):
        until(lambda: any(event in line for line in lines(journal)[since:]))

    return start, begun, lambda: len(lines(journal))


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


def until(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def finished(process, seconds=240):
    said, _ = process.communicate(timeout=seconds)
    return process.returncode, said


def commits(server):
    """The commits of the table that are MERGEs, as its log has them."""
    folder = server.folder / "warehouse/counted.db/counted/_delta_log"
    actions = [json.loads(line) for file in sorted(folder.glob("*.json")) for line in file.read_text().splitlines()]
    return [each["commitInfo"] for each in actions if each.get("commitInfo", {}).get("operation") == "MERGE"]


def test_a_connection_that_is_cut_during_a_merge_commits_it_once(counted, server):
    start, begun, events = counted
    assert finished(start(server.port, "build", "--no-lint"))[0] == 0
    before, seen = len(commits(server)), events()
    with Proxy(server.port) as proxy:
        process = start(proxy.port, "build", "--no-lint", "--vars", SLOW)
        begun("node_started", seen)
        for _ in range(3):
            time.sleep(0.7)
            proxy.cut()
        status, said = finished(process)
    assert status == 0, said
    assert len(commits(server)) == before + 1


def test_a_server_that_is_killed_after_the_commit_leaves_an_error_and_retry_commits_nothing_twice(counted, tmp_path):
    start, _, _ = counted
    derby = f"jdbc:derby:;databaseName={tmp_path}/metastore;create=true"
    hive = {"spark.sql.catalogImplementation": "hive", "spark.hadoop.javax.jdo.option.ConnectionURL": derby}
    with ConnectServer(tmp_path / "server", **hive) as server, Proxy(server.port) as proxy:
        assert finished(start(server.port, "build", "--no-lint"))[0] == 0
        before = len(commits(server))
        process = start(proxy.port, "build", "--no-lint", "--vars", SLOW)
        until(lambda: proxy.has_passed_on("merge into"))
        proxy.answers.clear()
        until(lambda: len(commits(server)) > before)
        server.kill()
        proxy.cut()
        server.start()
        proxy.answers.set()
        status, said = finished(process)
        assert len(commits(server)) == before + 1, said
        assert status in (0, 1), said
        assert "Traceback" not in said
        if status == 1:
            status, said = finished(start(server.port, "retry"))
            assert status == 0, said
        assert len(commits(server)) == before + 1, said
