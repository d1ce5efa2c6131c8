"""After a build every merge says whether the engine did as lint had said."""

from dataclasses import replace

import pytest

from merge_runner import Project
from merge_runner.pruning.judge import merge_analysis

pytestmark = pytest.mark.spark

COLUMNS = "[{name: id, data_type: bigint}, {name: dt, data_type: date}, {name: k, data_type: int}]"
FILES = {
    "models/fct.yml": f"version: 2\nmodels: [{{name: fct, columns: {COLUMNS}}}]\n",
    "models/fct.sql": """
        {{ config(partition_by='dt', bounds='off') }}
        merge into {{ this }} as t
        using (select id, date_add(date'2024-01-01', cast(id % 4 as int)) as dt, cast(id as int) as k from range(40)) as s
           on t.id = s.id and {{ var('filter') }}
        when matched then update set k = s.k
        when not matched then insert *
    """,
}
RUNS = {
    "t.dt = s.dt and t.dt = date'2024-01-02'": ("static", 4, 1),
    "t.dt = s.dt and t.dt >= date'2024-01-01'": ("static", 4, 4),
    "t.dt = s.dt and t.k between 0 and 100": ("static", 4, 4),
    "t.dt = s.dt": ("none", 4, 4),
    "abs(t.k) < 5": ("none", 4, 4),
}


@pytest.fixture
def merged(make_project, driver):
    """Builds a table of four partitions, then merges with a filter; gives the response of the second merge."""
    root = make_project(FILES)

    def run(filter):
        for text in ("false", filter):
            project = Project.load(root, vars={"filter": text})
            results = project.build(driver=driver, lint=False)
            assert results.ok, results.results
        return results["fct"].adapter_response

    return run


OFTEN = ("t.dt = s.dt and t.dt = date'2024-01-02'", "t.dt = s.dt")
"""What `make test` runs; `make test-slow` runs the others."""


@pytest.mark.parametrize(
    "filter", [text if text in OFTEN else pytest.param(text, marks=pytest.mark.slow) for text in RUNS]
)
def test_the_verdict_holds(merged, filter):
    response = merged(filter)
    verdict, total, scanned = RUNS[filter]
    assert [response[key] for key in ("verdict", "files_total", "files_scanned")] == [verdict, total, scanned]
    assert response["verdict_held"] is True if "between" not in filter else response["verdict_held"] in (True, None)


@pytest.mark.parametrize(
    ("filter", "wrong"),
    [("abs(t.k) < 5", "static"), pytest.param("t.dt = date'2024-01-02'", "none", marks=pytest.mark.slow)],
)
def test_a_wrong_verdict_is_caught(merged, monkeypatch, filter, wrong):
    right = merge_analysis.judge

    def judge(*arguments):
        found = right(*arguments)
        prunes = [replace(item, prunes=wrong == "static" and "t.k" in item.text) for item in found.on]
        return replace(found, verdict=wrong, on=tuple(prunes))

    monkeypatch.setattr(merge_analysis, "judge", judge)  # a patch: no MERGE is known of which the verdict is wrong
    response = merged(filter)
    assert response["verdict"] == wrong
    assert response["verdict_held"] is False


def test_a_build_stops_at_an_error_of_lint(make_project, driver):
    from merge_runner.lint.refusal import LintError

    root = make_project(FILES)
    with pytest.raises(LintError, match=r"models/fct.sql:5:\d+: .*\[P002\]"):
        Project.load(root, vars={"filter": "t.dt = s.dt"}).build(driver=driver)
    assert not (root / "target" / "run_results.json").exists()
