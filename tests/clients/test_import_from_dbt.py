"""dbt-spark and the project that `import dbt` makes of the same models: equal tables after a first and two more builds."""

import json
import os
import shutil
from pathlib import Path

import pytest
import yaml

from merge_runner.api import Project, import_dbt
from merge_runner.engine.spark.jars import fetch_jars

pytestmark = [pytest.mark.nightly, pytest.mark.spark]
PACKAGES = ("dbt-spark[session]==1.11.0", "dbt-core==1.11.16", "pyspark==4.1.4")
HERE = Path(__file__).parent / "from_dbt"
NOW = {
    "customers_checked": ("dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to"),
    "orders_history": ("dbt_valid_to",),  # of a deleted order
}
"""Columns that the clock fills: whether they are NULL is compared."""
BY_DBT = {"overwritten", "reads_overwritten"}
"""A model that is no MERGE, and one that reads it from dbt."""


@pytest.fixture(scope="module")
def by_dbt(client, tmp_path_factory):
    """What dbt has built, round by round."""
    import subprocess

    folder = Path(shutil.copytree(HERE / "project", tmp_path_factory.mktemp("dbt") / "project"))
    jars = os.pathsep.join(map(str, fetch_jars(["delta"], os.environ)))
    script = Path(__file__).parent / "scripts/with_dbt.py"
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "DBT_", "SPARK_"))}
    done = subprocess.run(
        [client(*PACKAGES), script, folder, jars, HERE / "rounds.yml"],
        env=env | {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false"},
        capture_output=True,
        text=True,
        timeout=1800,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("REPORT "))[len("REPORT ") :])


def test_the_tables_are_equal(by_dbt, driver, spark, tmp_path):
    made = import_dbt(HERE / "project", tmp_path / "new", env={})
    assert sum(model.materialized == "merge" for model in made.models) >= 12
    assert [todo.place.path for todo in made.todos if todo.kind == "left-out"] == ["models/overwritten.sql"]
    for number, statements in enumerate(yaml.safe_load((HERE / "rounds.yml").read_text()), 1):
        for statement in statements:
            spark.sql(statement)
        spark.sql("create schema if not exists from_dbt")
        expected = by_dbt[number - 1]
        assert expected["failed"] == []
        if number == 1:
            spark.sql("create table from_dbt.overwritten (id int, order_date date) using delta")
        project = Project.load(tmp_path / "new", vars={"round": number})
        results = project.build(driver=driver)
        assert results.ok, [result.message for result in results.results if result.message]
        for name, table in expected["tables"].items():
            if name not in BY_DBT:
                assert read(spark, name) == comparable(name, table), (number, name)


def read(spark, name):
    frame = spark.table(f"from_dbt.{name}")
    rows = [[str(value) for value in row] for row in frame.collect()]
    return comparable(
        name, {"columns": [[each.name, each.dataType.simpleString()] for each in frame.schema], "rows": rows}
    )


def comparable(name, table):
    names = [column for column, _ in table["columns"]]
    hidden = {names.index(column) for column in NOW.get(name, ())}
    rows = [
        ["set" if at in hidden and value != "None" else value for at, value in enumerate(row)] for row in table["rows"]
    ]
    return [tuple(column) for column in table["columns"]], sorted(rows)
