"""What statements do to rows that a rule reports, and what those do that it recommends: on Delta and Iceberg."""

from pathlib import Path

import pytest
import yaml

from merge_runner.lint.run.lint_files import Surroundings, lint_files
from merge_runner.lint.run.lint_project import LintOptions
from merge_runner.lint.run.plain_files import plain_files
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "damage.yml")
FOURTH = slice(0, None, 4)
TARGET = {"id": "int", "day": "int", "name": "string", "n": "int", "flag": "boolean"}
SOURCE = {**TARGET, "op": "string", "seq": "int"}
CATALOG = {"delta": "", "iceberg": "ice."}


def ids(case):
    return f"{case['code']}-{case['name'].replace(' ', '-')}"


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_the_rule_tells_them_apart(case, tmp_path):
    columns = {"t": TARGET, "s": SOURCE}
    tables = [
        {
            "name": f"shop.{name}",
            "columns": [{"name": each, "data_type": kind, "nullable": True} for each, kind in own.items()],
        }
        for name, own in columns.items()
    ]
    layout = tmp_path / "layout.yml"
    layout.write_text(yaml.safe_dump({"version": 1, "tables": tables}))
    found = {}
    for kind in ("bad", "good"):
        (tmp_path / f"{kind}.sql").write_text(case[kind])
        files = list(plain_files([tmp_path / f"{kind}.sql"], tmp_path))
        report = lint_files(files, LintOptions(layout=layout), {}, Surroundings(tmp_path))
        found[kind] = [finding.code for finding in report.findings]
    assert case["code"] in found["bad"]
    assert case["code"] not in found["good"]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("kind", "which", "cases"),
    [
        pytest.param("iceberg", "bad", FOURTH, marks=pytest.mark.nightly),
        pytest.param("iceberg", "bad", slice(None), marks=pytest.mark.slow),
        pytest.param("iceberg", "good", slice(None), marks=pytest.mark.nightly),
        pytest.param("delta", "bad", FOURTH, marks=pytest.mark.slow),
        pytest.param("delta", "bad", slice(None), marks=pytest.mark.nightly),
        pytest.param("delta", "good", slice(None), marks=pytest.mark.nightly),
    ],
    ids=lambda value: None if isinstance(value, str) else "some" if value is FOURTH else "all",
)
def test_the_engine_does_to_rows_what_the_rule_says(spark, kind, which, cases):
    schema = f"{CATALOG[kind]}damage"
    spark.sql(f"create schema if not exists {schema}")
    held, wanted = {}, {}
    for number, case in list(enumerate(CASES))[cases]:
        view(spark, "damage_source", SOURCE, case["source"])
        view(spark, "damage_target", TARGET, case["target"])
        table = f"{schema}.t{number}_{which}"
        spark.sql(f"create table {table} using {kind} as select * from damage_target")
        for _ in range(case.get("runs", 1)):
            spark.sql(case[which].replace("shop.t ", f"{table} ").replace("shop.s ", "damage_source "))
        rows = [list(row) for row in spark.table(table).collect()]
        held[ids(case)], wanted[ids(case)] = sorted(rows, key=repr), sorted(case[f"after {which}"], key=repr)
        spark.sql(f"drop table {table}")
    assert held == wanted


def view(spark, name, columns, rows):
    schema = ", ".join(f"{each} {kind}" for each, kind in columns.items())
    spark.createDataFrame([tuple(row) for row in rows], schema).coalesce(1).createOrReplaceTempView(name)
