"""`--empty` and `--sample`: the window that a text means, and what models and tests read then."""

from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest

from merge_runner import Project
from merge_runner.errors import ProblemsError
from merge_runner.plan.load.sample import EMPTY, read_sample
from merge_runner.plan.plan import Planner
from tests.yaml_data import read_yaml

NOW = datetime(2026, 3, 31, 22, 30, 59, tzinfo=timezone.utc)
WINDOW = "timestamp'2026-03-30 22:30:59+00:00'"
ENDS = "timestamp'2026-03-31 22:30:59+00:00'"
FILES = {
    "models/all.yml": """
        version: 2
        sources:
          - name: raw
            config: {event_time: at}
            tables: [{name: event, config: {event_time: seen_at}}, {name: order}]
        models:
          - {name: seen, config: {event_time: at}, columns: [{name: id, data_tests: [unique]}]}
    """,
    "models/seen.sql": "select * from {{ source('raw', 'event') }}",
    "models/inlined.sql": "{{ config(materialized='ephemeral') }} select * from {{ ref('seen') }}",
    "models/fct.sql": """
        {{ config(post_hook="analyze table {{ ref('seen') }} compute statistics") }}
        merge into {{ this }} as t using {{ ref('inlined') }} as s on t.id = s.id
        when not matched then insert *
    """,
    "models/tab.sql": "{{ config(materialized='table') }} select * from {{ source('raw', 'order') }}",
    "tests/one.sql": "select * from {{ ref('fct') }} where id is null",
}


@pytest.mark.parametrize("case", read_yaml(Path(__file__).parent / "sample.yml"), ids=lambda case: str(case["given"]))
def test_window(case):
    if "error" in case:
        with pytest.raises(ValueError, match=case["error"]):
            read_sample(str(case["given"]), NOW)
        return
    found = read_sample(case["given"], NOW)
    times = {name: time.strftime("%Y-%m-%d %H:%M:%S") for name in ("start", "end") if (time := getattr(found, name))}
    assert times == {name: case[name] for name in ("start", "end") if name in case}


@pytest.fixture
def texts(make_project):
    """The texts of nodes in a run with a sample, with blanks as one."""

    def compiled(sample):
        project = Project.load(make_project(FILES))
        planner = Planner(replace(project.prepared, sample=sample))
        plans = {
            name.split(".")[2]: planner.plan(name) for name in project.graph.nodes if not name.startswith("source")
        }
        schema = project.graph.nodes["model.shop.fct"].relation.schema
        return {
            name: " ".join(plan.sql.replace(f"{schema}.", "").split())
            for name, plan in plans.items()
            if plan is not None
        }, plans

    return compiled


def test_empty(texts):
    found, plans = texts(EMPTY)
    limited = "(select * from ( select * from (select * from seen where false limit 0) ) where false limit 0)"
    assert f"using {limited} as s" in found["fct"]
    assert found["tab"] == "select * from (select * from `order` where false limit 0)".replace("`order`", "raw.order")
    assert found["seen"] == "select * from raw.event"
    assert "(select * from fct where false limit 0)" in found["one"]
    assert "analyze table" in str(plans["fct"].steps[-1].sql)
    assert "limit 0" not in plans["fct"].steps[-1].sql
    stops = {name: str(plan.steps[0]).startswith("stop where") for name, plan in plans.items() if plan is not None}
    assert {name for name, does in stops.items() if does} == {"fct", "tab"}


def test_sample(texts):
    found, _ = texts(read_sample("1 day", NOW))
    event = f"select * from (select * from raw.event where seen_at >= {WINDOW} and seen_at < {ENDS})"
    seen = f"(select * from ( {event} ) where at >= {WINDOW} and at < {ENDS})"
    assert f"using ( select * from {seen} ) as s" in found["fct"]
    assert found["seen"] == "select * from raw.event"
    assert found["one"] == "select * from fct where id is null"
    assert found["tab"] == f"select * from (select * from raw.order where at >= {WINDOW} and at < {ENDS})"


def test_changes_are_not_consumed(make_project):
    files = {
        "models/a.sql": "merge into {{ this }} t using (select 1 as id) s on t.id = s.id when not matched then insert *",
        "models/b.sql": "merge into {{ this }} t using {{ changes('a') }} s on t.id = s.id when not matched then insert *",
    }
    project = Project.load(make_project(files))
    with pytest.raises(ProblemsError, match="b consumes changes of a"):
        Planner(replace(project.prepared, sample=EMPTY)).plan("model.shop.b")
