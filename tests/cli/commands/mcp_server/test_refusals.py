"""What an agent may do to a table over `merge-runner mcp --allow-write`: one real session, on Spark and Delta."""

import json
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.cli.commands.mcp_server.served import served
from tests.written_project import write_files, write_project
from tests.yaml_data import read_yaml

pytestmark = pytest.mark.spark

DATA = read_yaml(Path(__file__).with_name("refusals.yml"))
MODEL = "models/fct.sql"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return write_project(tmp_path_factory.mktemp("mcp") / "shop", "shop", DATA["files"])


@pytest.fixture(scope="module")
def server(root):
    """A server, and a table that it has built."""
    runtime = tempfile.mkdtemp(prefix="mr")  # short, for a socket
    env = {"MERGE_RUNNER_WARM": "1", "XDG_RUNTIME_DIR": runtime}
    with served(root, "--allow-write", "--select", "fct", "free", env=env) as running:
        answer = running.call("build")
        assert not answer.is_error, answer.text
        assert commits(root) > 0
        yield running
    assert list(Path(runtime, "merge-runner").glob("*.sock")) == []  # its driver has ended
    shutil.rmtree(runtime)


@pytest.fixture(autouse=True)
def author(root):
    """Leave the model as its author has written it."""
    yield
    write_files(root, DATA["files"])


def commits(root):
    return len(list((root / "warehouse/shop/fct/_delta_log").glob("*.json")))


def results(answer):
    return {entry["unique_id"].split(".")[2]: entry for entry in json.loads(answer.texts[0])["results"]}


@pytest.mark.parametrize("name", DATA["builds"])
def test_a_mutated_merge_is_refused_before_it_writes(server, root, name):
    case, before = DATA["builds"][name], commits(root)
    write_files(root, {MODEL: case.get("text") or f"{DATA['config']}\n{case['merge']}"})
    answer = server.call("build", select=["fct"])
    assert answer.is_error
    assert case["has"] in answer.text
    assert commits(root) == before


@pytest.mark.parametrize("name", DATA["calls"])
def test_a_call_writes_nothing(server, root, name):
    case, before = DATA["calls"][name], commits(root)
    answer = server.call(case["tool"], **case["arguments"])
    assert answer.is_error is case.get("error", True)
    assert case["has"] in answer.text
    assert commits(root) == before


@pytest.mark.parametrize("name", DATA["tests"])
def test_a_test_writes_nothing(server, root, name):
    case, before = DATA["tests"][name], commits(root)
    write_files(root, {case["path"]: case["text"]})
    answer = server.call("test", select=["odd"])
    (root / case["path"]).unlink()
    assert answer.is_error
    assert commits(root) == before


def test_rows_are_shown_tested_and_compared(server, root):
    before = commits(root)
    shown = server.call("show", inline="select count(*) as n from {{ ref('fct') }}")
    assert json.loads(shown.text) == {"show": [{"n": 3}]}
    write_files(root, {"data/raw.csv": "id,name\n1,a\n2,z\n4,d\n"})
    changes = {each["action"]: each["show"] for each in json.loads(server.call("show", select=["fct"]).text)["changes"]}
    assert changes == {"update": [{"id": 2, "name": "z"}], "insert": [{"id": 4, "name": "d"}]}
    tested = server.call("test")
    assert not tested.is_error, tested.text
    assert {entry["status"] for entry in results(tested).values()} == {"pass"}
    report = json.loads(server.call("diff", select=["fct"], rebuild=True).texts[0])
    assert report["models"][0]["rows"] == {"left": 3, "right": 3, "only_left": 1, "only_right": 1, "changed": 1}
    assert commits(root) == before


def test_a_merge_within_its_guard_is_built(server, root):
    before = commits(root)
    (root / MODEL).write_text((root / MODEL).read_text() + "-- an agent was here\n")
    write_files(root, {"data/raw.csv": "id,name\n1,a\n2,y\n3,c\n"})
    answer = server.call("build")
    assert not answer.is_error, answer.text
    assert results(answer)["fct"]["adapter_response"]["rows_updated"] == 1
    assert json.loads(answer.texts[0]) == json.loads((root / "target/run_results.json").read_text())
    assert commits(root) == before + 1


def test_a_failing_test_is_an_error_with_its_rows(server, root):
    model = root / "models/free.sql"
    model.write_text(model.read_text().replace("when not", "when matched then delete\nwhen not"))
    answer = server.call("test", select=["free"])
    assert answer.is_error
    assert {entry["status"] for entry in results(answer).values()} == {"fail"}


def test_a_project_that_runs_elsewhere_gets_no_driver(server, root):
    write_files(root, {"profiles.yml": "shop: {outputs: {dev: {master: 'local[1]', schema: shop}}}\n"})
    try:
        answer = server.call("show", inline="select 1 as a")
    finally:
        write_project(root, "shop", {})
    assert answer.is_error
    assert 'profiles.yml:1:1: error: the output "dev" of profiles.yml has changed [not-accepted]' in answer.text
