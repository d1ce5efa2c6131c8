"""What `explain --spark` says of shuffles and sorts is so: what is said to take a node away does."""

import itertools
import json
from pathlib import Path

import pytest
import yaml

from merge_runner import Project
from merge_runner.engine.driver.driver_source import GivenDriver
from merge_runner.plan.explain.explain import explain
from merge_runner.run.explain import explain_on_spark
from merge_runner.run.results.events import Events
from tests.yaml_data import read_yaml

pytestmark = pytest.mark.spark

CASES = read_yaml(Path(__file__).parent / "shuffles.yml")
ON = "t.id = s.id and t.part = s.part"
CLAUSES = "when matched then update set v = s.v when not matched then insert *"
LAYOUTS = {
    "fct": "part, bucket(4, id)",
    "sorted": "part, bucket(4, id)",
    "bare": "",
    "src": "part, bucket(4, id)",
    "few": "part, bucket(4, id)",
    "eight": "part, bucket(8, id)",
    "flat": "",
}
ROWS = {"few": 2} | dict.fromkeys(("fct", "sorted", "bare"), 2000)


@pytest.fixture(scope="module")
def tables(spark):
    """Targets of two thousand rows, and sources of fewer or as many."""
    spark.sql("create schema ice.shuffles")
    for name, layout in LAYOUTS.items():
        by = f"partitioned by ({layout})" if layout else ""
        rows = f"select id, cast(id % 3 as int) as part, 1 as v, 1 as w from range({ROWS.get(name, 100)})"
        spark.sql(f"create table ice.shuffles.{name} using iceberg {by} as {rows}")
    spark.sql("alter table ice.shuffles.sorted write locally ordered by v")


class Merge:
    """A MERGE of a case, as a model that is written again for each change to it."""

    def __init__(self, root, driver, case):
        self.root, self.driver = root, driver
        self.target = case.get("target", "fct")
        self.on, self.clauses = case.get("condition", ON), case.get("clauses", CLAUSES)
        self.using = case.get("using", "{source}").format(source=f"ice.shuffles.{case.get('source', 'src')}")
        mode = {"write.merge.mode": "merge-on-read"} if case.get("mode", "mor") else {}
        self.config = {"alias": self.target, **case.get("config", {})}
        self.config |= {"conf": dict(case.get("conf", {})), "properties": mode | case.get("properties", {})}
        self.config["partition_by"] = list(filter(None, LAYOUTS[self.target].split(", ", 1)))

    def with_changes(self, remedy):
        changed = object.__new__(Merge)
        changed.__dict__ |= self.__dict__
        changed.config = json.loads(json.dumps(self.config))
        for change in remedy:
            if change.where == "on":
                changed.on += f" and {change.key} = {change.value}"
            elif change.where == "config":
                changed.config[change.key] = yaml.safe_load(change.value)
            else:
                changed.config[change.where][change.key] = change.value
        return changed

    def told(self):
        """What is told of it, with the table as a build would alter it; and its nodes in short."""
        text = f"merge into {{{{ this }}}} as t using {self.using} as s on {self.on} {self.clauses}"
        config = f"{{{{ config(**{self.config!r}) }}}}"
        (self.root / "models/fct.sql").write_text(f"{config}\n{text}\n")
        project = Project.load(self.root)
        properties = project.graph.nodes["model.shop.fct"].config.properties
        table = f"ice.shuffles.{self.target}"
        pairs = ", ".join(f"{key!r} = {value!r}" for key, value in properties.items())
        if pairs:
            self.driver.spark.sql(f"alter table {table} set tblproperties ({pairs})")
        try:
            outlook = explain(project.prepared, project.select().ids)
            explanation = explain_on_spark(project.prepared, outlook, Events(), GivenDriver(self.driver))
        finally:
            if pairs:
                keys = ", ".join(map(repr, properties))
                self.driver.spark.sql(f"alter table {table} unset tblproperties ({keys})")
        (node,) = itertools.chain(*explanation.levels)
        assert node.engine_report.error is None, node.engine_report.error
        assert node.engine_report.shuffles is not None, node.engine_report.notes
        return node.engine_report


def short(each):
    return " ".join(filter(None, (each.shuffle.kind, each.shuffle.purpose, each.shuffle.side)))


@pytest.fixture
def merge(make_project, driver, tables):
    files = {
        "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.models]\nformat = "iceberg"\n',
        "profiles.yml": "shop: {outputs: {dev: {master: 'local[2]', schema: ice.shuffles}}}\n",
        "models/fct.sql": "",
    }
    root = make_project(files)
    return lambda case: Merge(root, driver, case)


TIERS = ((), pytest.mark.slow, pytest.mark.nightly)


# Every third case in `make test`, another third in `make test-slow`, all others in `make test-nightly`.
@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case["name"], marks=TIERS[number % 3]) for number, case in enumerate(CASES)],
)
def test_what_removes_a_node_removes_it(merge, case):
    asked = merge(case)
    told = asked.told()
    found = {
        short(each): [" and ".join(map(str, remedy)) for remedy in each.remedies] or each.why for each in told.shuffles
    }
    assert found == {key: value for key, value in case["nodes"].items() if value is not None}, "\n".join(told.lines())
    for remedy in dict.fromkeys(remedy for each in told.shuffles for remedy in each.remedies):
        after = asked.with_changes(remedy).told()
        gone = {short(each) for each in told.shuffles if remedy in each.remedies}
        assert not gone & {short(each) for each in after.shuffles}, (remedy, "\n".join(after.lines()))
        assert len(after.shuffles) < len(told.shuffles)


def test_bounds_that_cost_a_join_without_a_shuffle_are_told(merge):
    notes = merge({"config": {"storage_join": True}}).told().notes
    assert ["`bounds: off`" in note for note in notes] == [False, True]
    assert merge({"config": {"storage_join": True, "bounds": "off"}}).told().notes == ()
