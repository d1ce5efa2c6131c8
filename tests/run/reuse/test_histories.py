"""Histories of random projects: what is built with reuse is what is built without it.

REUSE_HISTORIES is how many, REUSE_SEED where they begin: docs/contributing/quality-report.md.
"""

import json
import os
import sys
from collections import Counter
from random import Random

import pytest

from merge_runner import Project
from tests.oracle.expression import Column
from tests.oracle.generate import COLUMNS, Generator
from tests.oracle.query import SIDE, Arm, Query
from tests.oracle.spark_sql import merge_text
from tests.oracle.tables import read
from tests.oracle.usual import usual

pytestmark = [pytest.mark.spark, pytest.mark.slow]

HISTORIES = int(os.environ.get("REUSE_HISTORIES", "3"))
SEED = int(os.environ.get("REUSE_SEED", "1"))
TOGETHER = min(12, HISTORIES)
"""Histories of one project: each is a chain of its own, so that most of it does not change when another one does."""
ROUNDS = 4 if HISTORIES < 12 else 5
EDITS = ("nothing", "nothing", "rows", "text", "var", "writer", "compaction", "properties", "upstream")


class Chain:
    """Files of rows, a staging model over them, and a MERGE of that into a table, with a test of it."""

    def __init__(self, number, seed):
        self.name = f"m{number}"
        self.random = Random(seed)
        self.make = Generator(self.random)
        self.staging = self.random.choice(["table", "view", "ephemeral"])
        self.rows = self.make.rows(8, keys=["id"], unique=True, least=1)
        self.limit = 1000
        self.mark = 0
        self.change_text()

    def change_text(self):
        latest = ("id",) if self.random.random() < 0.6 else ()
        columns = tuple((name, Column(SIDE, name)) for name in COLUMNS)
        query = Query((Arm("src", None, columns),), latest, tuple(COLUMNS) if latest else ())
        merge = usual(self.random)
        self.text = merge_text(
            merge, "{{ this }}", query, lambda _: f"{{{{ ref('stg_{self.name}') }}}}", {"t": "t", "s": "s"}, cte=False
        )

    def files(self):
        columns = ", ".join(f"{{name: {name}, data_type: '{kind}'}}" for name, kind in COLUMNS.items())
        source = (
            f"{{name: raw_{self.name}, tables: [{{name: src, path: data/{self.name}.json, columns: [{columns}]}}]}}"
        )
        return {
            f"models/{self.name}.sql": self.text,
            f"models/stg_{self.name}.sql": f"{{{{ config(materialized='{self.staging}') }}}}\n"
            f"select * from {{{{ source('raw_{self.name}', 'src') }}}} where id < {self.limit} or n <> {{{{ var('n_{self.name}', 0) }}}}",
            f"models/{self.name}.yml": f"""version: 2
sources: [{source}]
models:
  - name: {self.name}
    columns: [{columns}]
    data_tests: [{{tested: {{least: 3, config: {{severity: warn}}}}}}]
""",
            "macros/tested.sql": "{% test tested(model, least) %} select * from {{ model }} where n < {{ least }} {% endtest %}",
        }

    def data(self):
        return "".join(json.dumps(row, default=str) + "\n" for row in self.rows)


class Shop:
    """A project of chains in two targets, one of which is built with reuse."""

    def __init__(self, make_project, driver, seed):
        self.random = Random(seed)
        self.driver = driver
        self.seen = Counter()
        self.vars = {}
        self.chains = [Chain(number, seed * 1000 + number) for number in range(TOGETHER)]
        self.clock = 1_700_000_000
        self.written = {}
        self.root = make_project({})
        profiles = (self.root / "profiles.yml").read_text()
        schema = profiles.partition("schema: ")[2].partition("}")[0]
        self.schemas = {"reusing": f"{schema}_a", "plain": f"{schema}_b"}
        outputs = ", ".join(f"{name}: {{master: 'local[2]', schema: {own}}}" for name, own in self.schemas.items())
        (self.root / "profiles.yml").write_text(f"shop: {{target: plain, outputs: {{{outputs}}}}}\n")

    def write(self):
        for chain in self.chains:
            for path, text in {**chain.files(), f"data/{chain.name}.json": chain.data()}.items():
                if self.written.get(path) != text:
                    self.written[path] = text
                    (self.root / path).parent.mkdir(exist_ok=True)
                    (self.root / path).write_text(text)
                    self.clock += 1
                    os.utime(self.root / path, (self.clock, self.clock))  # not just now: a file is known by its time

    def edit(self):
        spark = self.driver.spark
        for chain in self.chains:
            what = self.random.choice(EDITS)
            self.seen[what] += 1
            tables = [f"{schema}.{chain.name}" for schema in self.schemas.values()]
            if what == "rows":
                chain.rows = chain.make.rows(8, chain.rows, ["id"], unique=True)
            elif what == "text":
                chain.change_text()
            elif what == "var":
                self.vars[f"n_{chain.name}"] = self.random.randrange(6)
            elif what == "upstream":
                chain.limit = self.random.randrange(8)
            elif what == "writer":
                statement = self.random.choice(
                    ["delete from {} where id = 1", "update {} set n = 7 where id > 2", "delete from {}"]
                )
                for table in tables:
                    spark.sql(statement.format(table))
            elif what == "compaction":
                for table in tables:
                    spark.sql(f"optimize {table}")
            elif what == "properties":
                chain.mark += 1
                for table in tables:
                    spark.sql(f"alter table {table} set tblproperties (mark = '{chain.mark}')")

    def build(self):
        self.write()
        results = {}
        for target, mode in (("reusing", "auto"), ("plain", "off")):
            project = Project.load(self.root, target=target, vars=self.vars, target_path=f"target_{target}")
            results[target] = project.build(driver=self.driver, lint=False, reuse=mode)
        for result in results["reusing"].results:
            self.seen[result.status] += 1
        return results

    def differences(self):
        tables = {
            target: {chain.name: f"{schema}.{chain.name}" for chain in self.chains}
            for target, schema in self.schemas.items()
        }
        found = {target: read(self.driver.spark, names) for target, names in tables.items()}
        return [chain for chain in self.chains if found["reusing"][chain.name] != found["plain"][chain.name]]


@pytest.mark.parametrize(
    "seed",
    [*range(SEED, SEED + max(1, HISTORIES // TOGETHER)), pytest.param(SEED + 1000, marks=pytest.mark.nightly)],
)
def test_reuse_changes_nothing(make_project, driver, monkeypatch, seed, capsys):
    monkeypatch.delenv("MERGE_RUNNER_REUSE", raising=False)
    shop = Shop(make_project, driver, seed)
    for number in range(ROUNDS):
        if number:
            shop.edit()
        results = shop.build()
        wrong = shop.differences()
        assert not wrong, "\n".join(
            f"round {number}: {chain.name}: {results['reusing'][chain.name].message}\n{chain.text}\n{chain.data()}"
            for chain in wrong
        )
    with capsys.disabled():
        sys.stdout.write(f"\n{TOGETHER} histories, seed {seed}: {dict(shop.seen)}\n")
    assert shop.seen["no-op"] > shop.seen["success"] / 4
