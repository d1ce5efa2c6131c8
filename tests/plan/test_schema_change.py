"""What `on_schema_change` puts into the plan of a merge."""

import pytest

from merge_runner.api import Project
from merge_runner.errors import ProblemsError
from merge_runner.plan.explain.explain import explain

MERGE = "merge {} into {{{{ this }}}} t using (select 1 as id) s on t.id = s.id when not matched then insert *"
YAML = "models: [{name: fct, config: {CONFIG}, columns: [{name: id, data_type: int}]}]"


@pytest.fixture
def steps(make_project):
    def told(config, evolves="", **flags):
        root = make_project({"models/fct.sql": MERGE.format(evolves), "models/m.yml": YAML.replace("CONFIG", config)})
        project = Project.load(root, **flags)
        name = project.graph.nodes["model.shop.fct"].relation.name
        plan = explain(project.prepared, ["model.shop.fct"]).levels[0][0].plan
        return [str(step).replace(name, "fct").partition(" (")[0] for step in plan.steps[1:]]

    return told


CREATE = "create where missing, else adopt fct"
CONTRACT = "contract: {enforced: true}"
ENFORCE = "enforce the contract of fct: 1 columns"


def test_by_default_nothing_is_added_to_the_plan(steps):
    assert steps("") == steps("on_schema_change: ignore") == [CREATE, "merge into fct"]


def test_what_a_merge_makes_of_added_columns_is_held_against_the_contract(steps):
    again = f"{ENFORCE}, where columns were added"
    config = f"on_schema_change: append_new_columns, {CONTRACT}"
    assert steps(config) == [ENFORCE, CREATE, again, "merge into fct"]
    assert steps(config, full_refresh=True) == [ENFORCE, "replace fct", "merge into fct"]


def test_fail_looks_at_the_table_before_it_is_touched(steps):
    check = "stop where fct has other columns than declared"
    assert steps("on_schema_change: fail") == [check, CREATE, "merge into fct"]
    assert steps("on_schema_change: fail", full_refresh=True) == ["replace fct", "merge into fct"]


def test_fail_and_schema_evolution_contradict_each_other(steps):
    with pytest.raises(ProblemsError) as caught:
        steps("on_schema_change: fail", "with schema evolution")
    (problem,) = caught.value.problems
    assert (problem.code, str(problem.place)) == ("schema-change", "models/m.yml:1:31")
    assert "take one of them out" in problem.hint
