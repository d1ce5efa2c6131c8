"""The verdict of a plan is that of lint: both know the session variables that a pre_hook declares."""

import pytest

from merge_runner.api import Project
from merge_runner.plan.explain.explain import explain

COLUMNS = "columns: [{name: id, data_type: bigint}, {name: day, data_type: date}]"
YAML = f"""
sources: [{{name: raw, tables: [{{name: s, format: delta, {COLUMNS}}}]}}]
models: [{{name: m, config: {{partition_by: [day], pre_hook: [HOOK]}}, {COLUMNS}}}]
"""
MERGE = """merge into {{ this }} as t using (select id, day from {{ source('raw', 's') }}) as s
on t.id = s.id and CONDITION when matched then delete"""
CASES = {
    "a typed variable": ("declare or replace variable cutoff date default date'2024-01-01'", "t.day >= cutoff"),
    "a variable typed by its value": ("declare cutoff = date'2024-01-01'", "t.day = cutoff"),
    "one that the session may have": ("set spark.sql.ansi.enabled = true", "t.day >= session.cutoff"),
    "a name that nothing declares": ("set spark.sql.ansi.enabled = true", "t.day >= cutoff"),
    "a variable next to a join that bounds": ("declare cutoff = date'2024-01-01'", "t.day = s.day and t.day < cutoff"),
}
VERDICTS = {"a name that nothing declares": "unknown"}


@pytest.mark.parametrize("name", CASES)
def test_a_plan_judges_as_lint_does(make_project, name):
    hook, condition = CASES[name]
    yaml = YAML.replace("HOOK", f'"{hook}"')
    root = make_project({"models/m.sql": MERGE.replace("CONDITION", condition), "models/m.yml": yaml})
    project = Project.load(root)
    (linted,) = project.lint().merges
    planned = explain(project.prepared, ["model.shop.m"]).levels[0][0].merge.judgement
    assert (planned.verdict, planned.reason) == (linted.verdict, linted.reason)
    assert planned.verdict == VERDICTS.get(name, "static")
