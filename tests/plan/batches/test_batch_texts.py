"""The text of a batch, and whether its MERGE keeps to its window."""

from __future__ import annotations

from typing import Any

import pytest

from merge_runner import Project
from merge_runner.errors import ProblemsError
from merge_runner.plan.batches.batch_values import NodeBatch, schedule_of
from merge_runner.plan.batches.window import parsed_window
from merge_runner.plan.nodes.disjoint_batches import keeps_to_window
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.step import Step
from merge_runner.plan.steps.table import EmptyWindow

CONFIG = "event_time='at', batch_size='day', begin='2024-01-01', partition_by=['at']"
IN_WINDOW = "t.at >= {{ batch.start }} and t.at < {{ batch.end }}"
INSERT = "when not matched then insert *"


def merge(on: str, *, config: str = CONFIG, clauses: str = f"when matched then update set * {INSERT}") -> str:
    return f"""{{{{ config({config}) }}}}
merge into {{{{ this }}}} as t
using (select id, at from {{{{ ref('event') }}}} where at >= {{{{ batch.start }}}} and at < {{{{ batch.end }}}}) as s
on t.id = s.id and t.at = s.at and {on} {clauses}
"""


def load(make_project: Any, text: str, *, type: str = "date", **files: str) -> Project:
    yml = f"models: [{{name: fct, columns: [{{name: id, data_type: int}}, {{name: at, data_type: {type}}}]}}]\n"
    event = f"{{{{ config(materialized='table') }}}} select 1 as id, cast('2024-01-01' as {type}) as at"
    return Project.load(
        make_project({"models/fct.sql": text, "models/event.sql": event, "models/fct.yml": yml, **files})
    )


def planner_of(project: Project) -> tuple[Planner, Any]:
    return Planner(project.prepared), next(node for node in project.graph.nodes.values() if node.name == "fct")


@pytest.mark.parametrize(
    ("type", "start", "end"),
    [
        ("date", "date'2024-01-05'", "date'2024-01-06'"),
        ("timestamp", "timestamp'2024-01-05 00:00:00+00:00'", "timestamp'2024-01-06 00:00:00+00:00'"),
        ("timestamp_ntz", "timestamp_ntz'2024-01-05 00:00:00'", "timestamp_ntz'2024-01-06 00:00:00'"),
    ],
)
def test_text_of_a_batch(make_project: Any, type: str, start: str, end: str) -> None:
    project = load(make_project, f"-- {{{{ batch.id }}}}\n{merge(IN_WINDOW)}", type=type)
    planner, node = planner_of(project)
    first = planner.plan(node.unique_id)
    assert first is not None and "-- 20240101\n" in first.sql  # lint and compile show the first batch
    window = parsed_window("2024-01-05/2024-01-06")
    assert window is not None
    plan = planner.batch(NodeBatch(node.unique_id, window), full_refresh=False)
    assert f"on t.id = s.id and t.at = s.at and t.at >= {start} and t.at < {end} when" in plan.sql
    assert f"where at >= {start} and at < {end})" in plan.sql
    assert "-- 20240105\n" in plan.sql


def test_rows_of_a_window_are_removed_where_it_is_asked_for(make_project: Any) -> None:
    planner, node = planner_of(load(make_project, merge(IN_WINDOW)))
    window = parsed_window("2024-01-05/2024-01-07")
    assert window is not None

    def emptied(batch: NodeBatch) -> list[Step]:
        return [step for step in planner.batch(batch, full_refresh=False).steps if isinstance(step, EmptyWindow)]

    assert emptied(NodeBatch(node.unique_id, window)) == []
    (step,) = emptied(NodeBatch(node.unique_id, window, empties=True))
    assert str(step).endswith(".fct where at >= date'2024-01-05' AND at < date'2024-01-07'")


APART = {
    "by the window": merge(IN_WINDOW),
    "by a list": merge("t.at in ({{ batch.start }})"),
    "by less than the window": merge(f"{IN_WINDOW} and t.at <> date'2024-01-09'"),
    "insert only": merge(IN_WINDOW, clauses=INSERT),
    "by BETWEEN": merge("t.at between {{ batch.start }} and {{ batch.end }} - interval 1 day"),
}
NOT_APART = {
    "no window in ON": merge("true"),
    "one side": merge("t.at >= {{ batch.start }}"),
    "a day more": merge("t.at >= {{ batch.start }} and t.at <= {{ batch.end }}"),
    "a constant": merge("t.at >= '2024-01-01'"),
    "no partition": merge(IN_WINDOW, config=CONFIG.replace(", partition_by=['at']", "")),
    "another partition": merge(IN_WINDOW, config=CONFIG.replace("['at']", "['id']")),
    "by source": merge(IN_WINDOW, clauses="when not matched by source then delete"),
    "a hook": merge(IN_WINDOW, config=f"{CONFIG}, pre_hook=['delete from t']"),
    "compaction": merge(IN_WINDOW, config=f"{CONFIG}, optimize={{'after': 2}}"),
    "its own rows": merge(IN_WINDOW).replace(
        "select id, at from", "select id + (select max(id) from {{ this }}) as id, at from"
    ),
}


CASES = [
    pytest.param(type, text, name in APART, id=f"{name}, {type}")
    for type in ("date", "timestamp", "timestamp_ntz")
    for name, text in {**APART, **NOT_APART}.items()
    if type == "date" or name != "by BETWEEN"  # a time may be between two days
]


@pytest.mark.parametrize(("type", "text", "apart"), CASES)
def test_batches_are_apart(make_project: Any, type: str, text: str, apart: bool) -> None:
    planner, node = planner_of(load(make_project, text, type=type))
    window = parsed_window("2024-01-05/2024-01-06")
    assert window is not None
    plan = planner.batch(NodeBatch(node.unique_id, window), full_refresh=False)
    assert keeps_to_window(plan, node, window) is apart


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ("batch_size='day'", "models/fct.sql:1:11: fct has `batch_size` and no `event_time`"),
        ("batch_size='day', event_time='at'", "fct has `batch_size` and no `begin`"),
        ("begin='2024-01-01'", "fct has `begin` and no `batch_size`"),
        ("lookback=2", "fct has `lookback` and no `batch_size`"),
        (f"{CONFIG}, lookback=1001", "`lookback` of fct is more than 1,000"),
        ("batch_size='week'", '"batch_size" must be "hour", "day", "month" or "year", not "week"'),
        (f"{CONFIG}, materialized='table'", "fct has `batch_size`, and no MERGE"),
    ],
)
def test_config_that_is_refused(make_project: Any, config: str, problem: str) -> None:
    with pytest.raises(ProblemsError) as error:
        load(
            make_project,
            f"{{{{ config({config}) }}}} {merge('true', config='')}"
            if "table" not in config
            else f"{{{{ config({config}) }}}} select 1 as id",
        )
    assert any(problem in str(found) for found in error.value.problems), error.value.problems


def test_a_text_without_batches_has_no_batch(make_project: Any) -> None:
    project = load(make_project, merge("true", config=""))
    with pytest.raises(ProblemsError) as error:
        Planner(project.prepared).plan("model.shop.fct")
    assert 'models/fct.sql:3:61: "batch" is not defined' in str(error.value.problems[0])
    assert "`batch_size`, `event_time` and `begin`" in str(error.value.problems[0])


def test_unit_tests_choose_a_batch(make_project: Any) -> None:
    yml = """
unit_tests:
  - {name: u, model: fct, given: [{input: ref('event'), rows: [{id: 1}]}], expect: {rows: []}, overrides: {batch: 2024-03-05 10:00}}
"""
    planner, _ = planner_of(load(make_project, merge(IN_WINDOW), **{"models/tests.yml": yml}))
    plan = planner.plan("unit_test.shop.fct.u")
    assert plan is not None and "t.at >= date'2024-03-05' and t.at < date'2024-03-06'" in plan.steps[0].sql  # type: ignore[attr-defined]


def test_schedule_begins_with_a_batch(make_project: Any) -> None:
    _, node = planner_of(load(make_project, merge("true", config=CONFIG.replace("2024-01-01", "2024-01-17 18:30"))))
    schedule = schedule_of(node)
    assert schedule is not None and (schedule.begin.isoformat(), schedule.lookback) == ("2024-01-17T00:00:00+00:00", 1)
