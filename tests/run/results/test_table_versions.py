"""The commits of tables in the record of a run: its own, and those of others since the runs before."""

import pytest

from merge_runner import Project
from merge_runner.pages.runs.history import kept_runs
from tests.fake_engine import FakeDriver, Lake
from tests.fake_engine.projects import model_files


def versions(root, name):
    """What the newest kept run says of a node: the operation and writer of each commit, and whether some are cut."""
    record = next(kept_runs(root / "target")).record
    (node,) = [each for each in record["nodes"] if each["name"] == name]
    listed = [
        (each["version"], each["operation"], each.get("run") == record["id"], each.get("of"))
        for each in node.get("versions", ())
    ]
    return listed, node.get("versions_cut", False)


@pytest.fixture
def root(make_project):
    return make_project(model_files({"a": {}, "b": {"parents": ["a"]}}))


def test_a_run_keeps_the_commits_since_the_run_before(root):
    lake = Lake()

    def build():
        Project.load(root).build(driver=FakeDriver(lake), lint=False)

    build()
    (newest, *older), cut = versions(root, "a")
    assert newest[1:] == ("MERGE", True, None)
    assert [each[2] for each in older] == [True] * len(older)
    assert not cut
    lake.commit(lake["a"], "WRITE")
    build()
    listed, cut = versions(root, "a")
    assert [each[1:] for each in listed] == [("MERGE", True, None), ("WRITE", False, None)]
    assert int(listed[1][0]) == int(newest[0]) + 1 and not cut
    Project.load(root).optimize(driver=FakeDriver(lake))
    assert [each[1:] for each in versions(root, "a")[0]] == [("OPTIMIZE", True, "optimize")]


def test_many_commits_are_cut(root):
    lake = Lake()
    Project.load(root).build(driver=FakeDriver(lake), lint=False)
    for _ in range(50):
        lake.commit(lake["a"], "WRITE")
    Project.load(root).build(driver=FakeDriver(lake), lint=False)
    listed, cut = versions(root, "a")
    assert (len(listed), cut) == (20, True)


def test_a_log_that_cannot_be_read_changes_no_result(root):
    lake = Lake()
    Project.load(root).build(driver=FakeDriver(lake), lint=False)
    lake.commit(lake["a"], "WRITE")
    driver = FakeDriver(lake, faults={"commits of a": [None, "fails"]})
    assert Project.load(root).build(driver=driver, lint=False).ok
    assert versions(root, "a") == ([], False)
    Project.load(root).build(driver=FakeDriver(lake), lint=False)
    assert [each[1] for each in versions(root, "a")[0]] == ["MERGE", "MERGE", "WRITE"]


OTHERS = {"delta": "WRITE", "iceberg": "append"}
MERGE = """
    merge into {{ this }} as t
    using (select explode(sequence({{ var('first') }}, {{ var('first') }} + 2)) as id, 1 as n) as s on t.id = s.id
    when matched then update set n = t.n + 1 when not matched then insert *
    """


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("table_format", OTHERS)
def test_what_each_commit_did(make_project, driver, table_format):
    root = make_project({"models/m.sql": MERGE}, table_format)

    def build(first):
        return Project.load(root, vars={"first": first}).build(driver=driver, lint=False)

    build(1)
    driver.spark.sql(f"insert into {Project.load(root).graph.nodes['model.shop.m'].relation} values (9, 9)")
    build(2)
    record = next(kept_runs(root / "target")).record
    (node,) = record["nodes"]
    merged, other = node["versions"]
    assert (merged["run"], merged["node"]) == (record["id"], "model.shop.m")
    assert [merged["rows"][kind] for kind in ("inserted", "updated")] == [1, 2]
    assert merged["files_added"] >= 1 and merged["bytes_added"] > 0
    assert merged["version"] == str(node["response"]["table_version"])
    assert (other["operation"], other.get("run"), other["rows"]["inserted"]) == (OTHERS[table_format], None, 1)
    assert other["at"] <= record["started_at"] <= merged["at"]
