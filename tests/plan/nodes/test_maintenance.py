"""What `optimize` plans, and what it refuses before anything runs."""

import pytest

from merge_runner import Project
from merge_runner.errors import ProblemsError
from merge_runner.plan.nodes.maintenance import Maintenance
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.maintenance import OptimizeTable

MERGE = "{{ config(CONFIG) }}\nmerge into {{ this }} t using (select 1L as id) s on t.id = s.id when not matched then insert *"


@pytest.fixture
def plan(make_project):
    """The plan of `merge-runner optimize` for a merge model with this config; None where it has none."""

    def run(config, asked=None, table_format="delta", build=False):
        project = Project.load(make_project({"models/fct.sql": MERGE.replace("CONFIG", config)}, table_format))
        planner = Planner(project.prepared)
        return (
            planner.plan("model.shop.fct") if build else planner.maintenance("model.shop.fct", asked or Maintenance())
        )

    return run


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("", ["optimize {}"]),
        ("optimize=true", ["optimize {}"]),
        ("optimize={'after': 3}", ["optimize {}"]),
        ("optimize={'zorder_by': ['a', 'b']}", ["optimize {}, Z-ordered by a, b"]),
        ("cluster_by=['id']", ["optimize {}, clustered by id"]),
        ("partition_by=['p'], optimize={'where': 'p  > 1'}", ["optimize {}, where p > 1"]),
    ],
)
def test_a_table_is_compacted_as_its_config_says(plan, config, words):
    found = plan(config)
    assert [str(step) for step in found.steps] == [each.format(found.writes.name) for each in words]
    assert found.maintains
    assert [str(step) for step in plan(config, Maintenance(vacuum=True)).steps[1:]] != []


@pytest.mark.parametrize(
    "config",
    ["optimize=false", "materialized='view'", "materialized='ephemeral'", "materialized='table', optimize=false"],
)
def test_what_has_no_table_or_does_not_want_it_is_left_out(plan, config):
    assert plan(config) is None


def test_a_build_compacts_last_and_only_where_the_model_says_after(plan):
    assert not any(isinstance(step, OptimizeTable) for step in plan("optimize={'zorder_by': 'id'}", build=True).steps)
    found = plan("optimize={'after': 3}, post_hook='select 1'", build=True)
    assert str(found.steps[-1]) == f"optimize {found.writes.name}, with every 3 merges"
    assert not found.maintains


DELTA = {
    "cluster_by=['id'], optimize={'zorder_by': 'x', 'after': 1}": "clustered by id, and cannot be Z-ordered as well",
    "optimize={'where': 'p = 1', 'after': 1}": "not partitioned, and `where` of `optimize` takes partition columns",
    "partition_by=['P'], optimize={'zorder_by': ['x', 'p'], 'after': 1}": "partitioned by p, and cannot be Z-ordered by it",
}


@pytest.mark.parametrize(("config", "message"), DELTA.items())
@pytest.mark.parametrize("build", [True, False])
def test_what_delta_refuses_is_told_before_anything_runs(plan, config, message, build):
    with pytest.raises(ProblemsError, match=message) as raised:
        plan(config, build=build)
    (problem,) = raised.value.problems
    assert (problem.code, problem.place.path, problem.place.line) == ("optimize", "models/fct.sql", 1)
    assert plan(config, table_format="iceberg", build=build) is not None


@pytest.mark.parametrize(
    ("table_format", "config", "least"),
    [
        ("delta", "", 7 * 86400),
        ("delta", "properties={'delta.deletedFileRetentionDuration': 'interval 3 days'}", 3 * 86400),
        ("iceberg", "", 5 * 86400),
        ("iceberg", "properties={'history.expire.max-snapshot-age-ms': '3600000'}", 3600),
    ],
)
def test_no_less_is_retained_than_the_table_says(plan, table_format, config, least):
    kept = plan(config, Maintenance(vacuum=True, retain=least), table_format)
    assert [type(step).__name__ for step in kept.steps] == ["OptimizeTable", "VacuumTable"]
    with pytest.raises(ProblemsError, match="running readers, pinned source versions, time travel") as raised:
        plan(config, Maintenance(vacuum=True, retain=least - 1), table_format)
    assert [problem.code for problem in raised.value.problems] == ["retention"]
    assert plan(config, Maintenance(vacuum=True, retain=None), table_format) is not None
