"""The models of docs/guides/incremental-models.md, as they are written there."""

import re
from pathlib import Path

import pytest

from merge_runner import Project
from merge_runner.plan.explain.explain import explain
from merge_runner.plan.steps.table import KeepHistory

PAGE = (Path(__file__).parents[2] / "docs/guides/incremental-models.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(sql|toml)\n(.*?)^```", PAGE, re.M | re.S)
MERGES = [text for _, text in BLOCKS if "merge into" in text]
STG = {
    "models/stg_event.sql": "select event_id, user_id, updated_at, event_date, amount from {{ source('raw', 'event') }}",
    "models/s.yml": "version: 2\nsources: [{name: raw, tables: [{name: event}]}]\n",
    "macros/in_window.sql": next(text for _, text in BLOCKS if "macro in_window" in text),
}


@pytest.fixture
def project(make_project):
    variables = next(text for kind, text in BLOCKS if kind == "toml")

    def load(fct, **flags):
        settings = f'[tool.merge-runner]\nname = "shop"\n{variables}'
        return Project.load(make_project({**STG, "pyproject.toml": settings, "models/fct.sql": fct}), **flags)

    return load


def test_the_first_model_has_two_forms_and_no_error_of_correctness(project):
    loaded = project(MERGES[0])
    assert not [finding for finding in loaded.lint().findings if finding.code[0] in "CJ" and finding.code != "C003"]
    (node,) = (node for level in explain(loaded.prepared, ["model.shop.fct"]).levels for node in level)
    assert [("max(updated_at)" in form.sql) for form in node.plan.forms] == [True, False]


def test_a_window_has_the_verdict_static(project):
    report = project(MERGES[1]).lint()
    assert [merge.verdict for merge in report.merges] == ["static"]
    assert not [finding for finding in report.findings if finding.severity == "error"]


def test_the_error_of_a_full_refresh_is_the_one_that_the_page_shows(project):
    lost = (
        MERGES[0].replace("{% if is_incremental() %}", "union all select * from {{ this }}").replace("{% endif %}", "")
    )
    loaded = project(lost, full_refresh=True)
    (node,) = (node for level in explain(loaded.prepared, ["model.shop.fct"]).levels for node in level)
    problem = next(step.problem for step in node.plan.steps if isinstance(step, KeepHistory))
    table = loaded.graph.nodes["model.shop.fct"].relation.name
    shown = re.search(r"error: (--full-refresh .*?) \[history-lost\]\n\s+(.*)", PAGE)
    assert (problem.message.replace(table, "shop.dim_customer"), problem.hint) == (shown[1], shown[2])
