"""How a MERGE is held to what its model expects, and what cannot be."""

import pytest

from merge_runner import Project
from merge_runner.errors import ProblemsError
from merge_runner.plan.explain.explain import explain
from merge_runner.plan.steps.guardrails import cost_limits
from merge_runner.plan.steps.prediction import Prediction
from merge_runner.project.schema.expect_merge import ExpectMerge

MERGE = """
{{ config(expect_merge=LIMITS) }}
merge into {{ this }} as t using raw.item as s on t.id = s.id when matched then update set * when not matched then insert *
"""
COLUMNS = "models: [{name: fct, columns: [{name: id, data_type: int}]}]"


@pytest.fixture
def steps(make_project):
    """The steps of a project's only model, as `explain` tells them."""

    def told(sql, settings="", **flags):
        files = {"models/fct.sql": sql, "models/m.yml": COLUMNS}
        if settings:
            files["pyproject.toml"] = f'[tool.merge-runner]\nname = "shop"\n{settings}'
        project = Project.load(make_project(files), **flags)
        levels = explain(project.prepared, ["model.shop.fct"]).levels
        return [str(step) for step in levels[0][0].plan.steps]

    return told


def test_explain_tells_how_a_merge_is_held(steps):
    merge = MERGE.replace("LIMITS", "{'min_source_rows': 1, 'max_percent_deleted': 0.5}")
    found = steps(merge)
    assert found[-1].endswith("fct, counted before it runs (min_source_rows 1, max_percent_deleted 0.5)")
    assert not any(step.startswith("look at the source") for step in found)
    again = steps(merge, full_refresh=True)
    assert "look at the source before the table is replaced (min_source_rows 1, max_percent_deleted 0.5)" in again
    source_alone = steps(MERGE.replace("LIMITS", "{'unique_source': True}"))
    assert source_alone[-1].endswith("fct, looked at before it runs (unique_source)")
    assert steps(MERGE.replace("LIMITS", "{}"))[-1].endswith("fct")
    costs = "{'max_scanned': '50 GiB', 'max_rewritten': 1000, 'max_seconds': '2m'}"
    said = (
        "not run where it is predicted to cost more (max_scanned 50.0 GiB, max_rewritten 1000 bytes, max_seconds 120)"
    )
    assert steps(MERGE.replace("LIMITS", costs))[-1].endswith(f"fct, {said}")
    both = steps(MERGE.replace("LIMITS", "{'max_scanned': '1 MB', 'max_deletes': 1}"))[-1]
    assert "fct, counted before it runs (max_deletes 1), not run where" in both


@pytest.mark.parametrize(
    ("limits", "predicted", "exceeded"),
    [
        ({"max_scanned": 1024}, {"bytes": 1024}, []),
        ({"max_scanned": 1024}, {"bytes": 2048}, ["2.0 KiB read (`max_scanned: 1.0 KiB`)"]),
        ({"max_scanned": 0}, {"bytes": None}, []),
        ({"max_rewritten": 0}, {"bytes": 5, "rewritten_bytes": 0}, []),
        ({"max_rewritten": 0}, {"rewritten_bytes": 5}, ["5 bytes rewritten at most (`max_rewritten: 0 bytes`)"]),
        ({"max_seconds": 60.0}, {"seconds": None}, []),
        (
            {"max_seconds": 60.0},
            {"seconds": 90.04},
            ["90.0 s, as projected from earlier runs (`max_seconds: 1 minute`)"],
        ),
    ],
)
def test_limits_that_a_prediction_exceeds(limits, predicted, exceeded):
    prediction = Prediction(**{"files": None, "bytes": None, "rewritten_bytes": None, "seconds": None, **predicted})
    assert list(cost_limits(ExpectMerge(**limits)).exceeded_by(prediction)) == exceeded


@pytest.mark.parametrize("limits", [None, ExpectMerge(), ExpectMerge(max_deletes=1)])
def test_no_limit_of_costs(limits):
    assert cost_limits(limits) is None


def test_a_source_that_reads_the_target_cannot_be_looked_at_before_it_is_replaced(steps):
    merge = MERGE.replace("LIMITS", "{'min_source_rows': 1}, full_refresh=true").replace(
        "raw.item", "(select * from {{ this }})"
    )
    assert not any(step.startswith("look at") for step in steps(merge, full_refresh=True))


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        (
            MERGE.replace("LIMITS", "{'unique_source': True}").replace("t.id = s.id", "t.id < s.id"),
            "models/fct.sql:2:11: `unique_source` needs keys, and ON has no equality between a column of the target and "
            "the source [expect-merge]",
        ),
        (
            "{{ config(materialized='table', expect_merge={'max_deletes': 1}) }} select 1 as id",
            "models/fct.sql:1:33: `expect_merge` guards a MERGE, and fct is a table: nothing would be guarded [expect-merge]",
        ),
    ],
)
def test_what_cannot_be_guarded_is_an_error(steps, sql, problem):
    with pytest.raises(ProblemsError) as raised:
        steps(sql)
    assert problem in str(raised.value)


def test_as_a_default_for_a_folder_it_is_for_the_merges_in_it(steps):
    settings = "[tool.merge-runner.models]\nexpect_merge = {min_source_rows = 1}\n"
    assert steps("{{ config(materialized='table') }} select 1 as id", settings)
    assert steps(MERGE.replace("{{ config(expect_merge=LIMITS) }}", ""), settings)[-1].endswith("(min_source_rows 1)")
