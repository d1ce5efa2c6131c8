"""Builds that use a warm driver, each as a process: what they find is what is there.

The tests are about one folder after the other, each with a new project in it, so that a JVM that is left over serves the next test.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.written_project import write_project

pytestmark = pytest.mark.slow

FACT = """
merge into {{ this }} as t using (select s.id, s.name, r.n from {{ ref('stg') }} as s join {{ source('raw', 'r') }} as r on r.id = s.id) as s
   on t.id = s.id
when matched and t.name <> s.name then update set *
when not matched then insert *
"""
SOURCES = """
sources:
  - name: raw
    tables:
      - {name: r, path: data/r.csv, format: csv, options: {header: true}, columns: [{name: id, data_type: int}, {name: n, data_type: int}]}
"""
PROFILE = "shop: {{outputs: {{dev: {{master: 'local[2]', schema: shop, conf: {{spark.local.dir: scratch, my.own: {own}}}}}}}}}"
ENDLESS = (
    "{{ config(materialized='table') }} select count(*) as n from range(100000000000L) "
    "where sha2(cast(id as string), 512) = 'x'"
)

STARTED = '"node": "model.shop.endless"'


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The folder of the projects and that of their warm driver, which ends with the tests."""
    runtime = tempfile.mkdtemp(prefix="mr")  # short, for a socket
    home = Home(tmp_path_factory.mktemp("warm") / "shop", Path(runtime))
    yield home
    if home.root.exists():
        home.shop().call("warm", "stop", ok=False)
    shutil.rmtree(runtime)


@pytest.fixture
def shop(home):
    """A new project, and what one calls in it."""
    for path in home.root.glob("*"):
        if path.is_file():
            path.unlink()
        elif path.name != "scratch":  # `spark.local.dir`: a JVM that is left over has its files there
            shutil.rmtree(path)
    write_project(
        home.root,
        "shop",
        {
            "profiles.yml": PROFILE.format(own="b"),
            "models/stg.sql": stg("(1, 'a'), (2, 'b')"),
            "models/fct.sql": FACT,
            "models/s.yml": SOURCES,
            "models/endless.sql": ENDLESS,
            "data/r.csv": "id,n\n1,10\n2,20\n3,30\n",
        },
    )
    return home.shop()


@dataclass(frozen=True)
class Home:
    root: Path
    runtime: Path

    def shop(self):
        warm = {"MERGE_RUNNER_WARM": "1", "XDG_RUNTIME_DIR": str(self.runtime), "PYTHONUNBUFFERED": "1"}
        return Shop(self.root, {**os.environ, **warm})


def stg(values):
    return f"{{{{ config(materialized='view') }}}} select * from values {values} as v(id, name)"


class Shop:
    def __init__(self, root, env):
        self.root = root
        self.env = env

    def call(self, *words, ok=True, **env):
        done = subprocess.run(
            [sys.executable, "-m", "merge_runner", *words],
            cwd=self.root,
            env={**self.env, **env},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0 or not ok, done.stderr + done.stdout
        return done

    def started(self):
        """The process id of the warm JVM: of the one that is there, else of a new one."""
        self.call("warm", "start")
        return self.warm_jvm()

    def warm_jvm(self):
        """The process id of the warm JVM; None without one."""
        match = re.search(r"is process (\d+), kept", self.call("warm", "status", ok=False).stdout)
        return int(match.group(1)) if match else None

    def facts(self, *words, **env):
        """Source rows and inserted rows of a run of fct."""
        self.call("run", *(words or ("-s", "fct")), **env)
        results = json.loads((self.root / "target/run_results.json").read_text())["results"]
        (response,) = [entry["adapter_response"] for entry in results if entry["unique_id"] == "model.shop.fct"]
        return response["rows_source"], response["rows_inserted"]

    def begin_endless(self):
        process = subprocess.Popen(
            [sys.executable, "-m", "merge_runner", "build", "--no-lint", "-s", "endless"],
            cwd=self.root,
            env=self.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        journal = self.root / "target/journal.jsonl"
        until(lambda: journal.exists() and STARTED in journal.read_text().rpartition("invocation_started")[2])
        time.sleep(2)
        return process


def until(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def alive(pid):
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def test_every_run_finds_what_is_there_now_in_the_driver_that_the_first_one_started(shop, spark):
    (shop.root / "profiles.yml").write_text(PROFILE.format(own="a").replace("shop, ", "shop, keep_warm: 5, ", 1))
    shop.call("warm", "stop")
    house = shop.root / "warehouse/shop"
    assert shop.facts("-s", "+fct") == (2, 2)
    jvm = shop.warm_jvm()
    assert jvm is not None
    assert shop.facts() == (2, 0)

    # A folder that was removed is a table that has not been built.
    shutil.rmtree(house / "fct")
    assert shop.facts() == (2, 2)

    # A table that another process (the driver of the tests) replaced by one of as many versions, whose log is another one.
    log = house / "fct/_delta_log"
    versions = len(list(log.glob("*.json")))
    shutil.rmtree(house / "fct")
    spark.sql(f"create table delta.`{house}/fct` (id int, name string, n int) using delta")
    for _ in range(versions - 1):
        spark.sql(f"insert overwrite delta.`{house}/fct` values (2, 'b', 20)")
    assert len(list(log.glob("*.json"))) == versions
    assert shop.facts() == (2, 1)

    # A view that another process redefined is read as it is now, and so is a file: with one of them there would be fewer rows.
    (house / "stg.view.sql").write_text("select id, 'b' as name from range(1, 7)")
    (shop.root / "data/r.csv").write_text("id,n\n" + "".join(f"{id},{id}0\n" for id in range(2, 7)))
    assert shop.facts() == (5, 4)

    # A model that is no view any more, and a source of another schema.
    (shop.root / "models/stg.sql").write_text("{{ config(materialized='table') }} select 2 as id, 'z' as name")
    shutil.rmtree(house / "fct")
    (house / "stg.view.sql").unlink()
    assert shop.facts("-s", "+fct") == (1, 1)
    assert shop.warm_jvm() == jvm


@pytest.mark.nightly
def test_another_conf_needs_another_jvm_and_ci_uses_none(shop):
    (shop.root / "profiles.yml").write_text(PROFILE.format(own="a"))
    jvm = shop.started()
    (shop.root / "profiles.yml").write_text(PROFILE.format(own="b"))
    assert shop.facts("-s", "+fct") == (2, 2)
    other = shop.warm_jvm()
    assert other not in (None, jvm)
    assert not alive(jvm)

    # Where nobody asks for it in CI (all tests run as there), it is not used.
    warm_log = shop.root / "target/logs/warm.log"
    before = warm_log.stat().st_size
    assert shop.facts(MERGE_RUNNER_WARM="") == (2, 0)
    assert warm_log.stat().st_size == before
    assert shop.warm_jvm() == other


def test_a_warm_jvm_that_is_killed_is_the_error_of_what_ran_there(shop):
    jvm = shop.started()
    process = shop.begin_endless()
    os.kill(jvm, signal.SIGKILL)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in stderr
    (result,) = json.loads((shop.root / "target/run_results.json").read_text())["results"]
    assert result["message"].startswith("the Spark driver is lost: its JVM has ended")
    assert shop.warm_jvm() is None
    assert shop.facts("-s", "+fct") == (2, 2)


WRONG = """
import sys
from merge_runner.engine.spark.jvm import gateway
gateway(int(sys.argv[1]), sys.argv[2]).jvm.java.lang.System.currentTimeMillis()
print("came in")
"""


@pytest.mark.nightly
def test_a_stream_and_ctrl_c_leave_the_jvm_to_the_next_run_and_kill_ends_it(shop):
    from merge_runner.engine.warm import client

    (shop.root / "models/queue.yml").write_text(
        "sources: [{name: queue, tables: [{name: rows, path: landing, format: json, stream: true, "
        "columns: [{name: id, data_type: bigint}]}]}]\n"
    )
    (shop.root / "models/streamed.sql").write_text(
        "merge into {{ this }} as t using {{ source('queue', 'rows') }} as s on t.id = s.id "
        "when not matched then insert *"
    )
    (shop.root / "landing").mkdir()
    jvm = shop.started()
    for number in range(2):
        (shop.root / f"landing/{number}.json").write_text(f'{{"id": {number}}}')
        shop.call("stream", "--available-now")
        (result,) = json.loads((shop.root / "target/run_results.json").read_text())["results"]
        assert result["adapter_response"]["rows_inserted"] == 1
        assert shop.warm_jvm() == jvm

    # Only who knows the secret comes in.
    path = client.socket_path(shop.root, shop.env)
    line = client.Line(path)
    told = line.ask("attach", key=client.status(path)["key"])
    for secret, said in ((told["secret"], "came in\n"), ("another secret", "")):
        words = [sys.executable, "-c", WRONG, str(told["port"]), secret]
        assert subprocess.run(words, capture_output=True, text=True, check=False).stdout == said
    line.ask("detach")
    line.close()

    process = shop.begin_endless()
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 2
    assert stderr.rstrip().endswith("interrupted")
    assert shop.warm_jvm() == jvm
    assert shop.facts("-s", "+fct") == (2, 2)
    assert shop.warm_jvm() == jvm

    process = shop.begin_endless()
    process.kill()
    process.communicate()
    until(lambda: not alive(jvm))
    assert shop.warm_jvm() is None
