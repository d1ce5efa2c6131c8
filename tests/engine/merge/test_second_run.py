"""What the engine is asked about another run of a MERGE is what that run then does, on both formats."""

from pathlib import Path

import pytest

from merge_runner.engine.merge.second_run import second_run
from merge_runner.merge.parse import parse
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.relation import Relation
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "second_run.yml")
SCHEMA = {"delta": "second_run_test", "iceberg": "ice.second_run_test"}


def rows(session, table):
    return sorted(map(repr, session.table(table).collect()))


OF_BOTH = [case for case in CASES if "formats" not in case]


@pytest.mark.spark
@pytest.mark.parametrize(
    ("table_format", "cases"),
    [
        ("delta", [case for case in CASES if case.get("formats") == ["delta"]] + OF_BOTH[::9]),
        (
            "iceberg",
            [case for case in CASES if case.get("formats") == ["iceberg"]]
            + [case for number, case in enumerate(OF_BOTH) if number % 9],
        ),
        pytest.param("delta", OF_BOTH[4::9], marks=pytest.mark.slow),
        pytest.param(
            "delta",
            [case for number, case in enumerate(OF_BOTH) if number % 9 not in (0, 4)],
            marks=pytest.mark.nightly,
        ),
        pytest.param("iceberg", OF_BOTH[::9], marks=pytest.mark.slow),
    ],
    ids=["delta", "iceberg", "delta, more", "delta, the others", "iceberg, the others"],
)
def test_it_is_what_another_run_then_does(driver, table_format, cases):
    wrong = []
    driver.spark.sql(f"create schema if not exists {SCHEMA[table_format]}")
    for case in cases:
        table = f"{SCHEMA[table_format]}.t{CASES.index(case)}"
        said, then = answers(driver.spark.newSession(), table_format, table, case)
        again = "nothing" if said is None else "unknown" if "not known" in said else "changes"
        if again != case["again"] or again not in ("unknown", then):
            wrong.append((case["case"], said, then))
    assert wrong == []


def answers(session, table_format, table, case):
    """Return what is said of another run, and what it then does."""
    for name, value in case.get("conf", {}).items():
        session.conf.set(name, value)
    parts = f" partitioned by ({case['partition_by']})" if "partition_by" in case else ""
    session.sql(f"create or replace table {table} ({case['columns']}) using {table_format}{parts}")
    if "target" in case:
        into = f" ({case['target_columns']})" if "target_columns" in case else ""
        session.sql(f"insert into {table}{into} values {case['target']}")
    source = case["source"].format(target=table)
    text = f"merge into {table} as t using (select * from {source}\n) as {case.get('alias', 's')} {case['merge']}"
    if source.startswith("select"):
        text = text.replace("(select * from select", "(select")
    judged = judge_merge(parse(text), TableLayout(format=table_format), lambda _parts: None)
    step = RunMerge(Relation(*reversed(table.split("."))), text, judged)
    session.sql(text)
    said = second_run(session, step, None)
    before = rows(session, table)
    try:
        session.sql(text)
    except Exception as error:
        assert "MULTIPLE_SOURCE_ROW" in str(error) or "CARDINALITY" in str(error), (case["case"], str(error))
        return said, "changes"
    return said, "nothing" if rows(session, table) == before else "changes"
