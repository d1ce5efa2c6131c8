"""The statements that a MERGE may be sent as: tests/plan/steps/merge_variants.yml."""

from __future__ import annotations

from pathlib import Path

import pytest

from merge_runner.api import Project
from merge_runner.formats.registry import capabilities
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.merge import RunMerge
from merge_runner.plan.steps.merge_variants import variants
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("merge_variants.yml"))
COLUMNS = "[{name: id, data_type: bigint}, {name: dt, data_type: date}, {name: n, data_type: int}]"
FILES = {
    "models/all.yml": f"models: [{{name: m, columns: {COLUMNS}}}, {{name: p, columns: {COLUMNS}}}]\n",
    "models/p.sql": "{{ config(materialized='table') }}\nselect 1L as id, date'2024-01-01' as dt, 1 as n\n",
}
MERGE = (
    "{{{{ config(partition_by=['dt'], {config}) }}}}\nmerge into {{{{ this }}}} as t using {using} as s\n"
    "on t.id = s.id and t.dt = s.dt when matched then update set n = s.n when not matched then insert *\n"
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_variants(make_project, case):
    model = MERGE.format(config=case.get("config", ""), using=case["using"])
    root = make_project(FILES | {"models/m.sql": model}, case.get("format", "delta"))
    prepared = Project.load(root).prepared
    plan = Planner(prepared).plan("model.shop.m")
    (step,) = [step for step in plan.steps if isinstance(step, RunMerge)]
    sent = variants(step, capabilities(step.judged.layout.format), **case.get("session", {}))
    assert list(map(str, sent)) == case["variants"]
