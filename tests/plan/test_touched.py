"""Which rows a test looks at that is about what a MERGE has touched; all where a row may end outside the bounds."""

import pytest

from merge_runner import Project
from merge_runner.plan.plan import Planner
from merge_runner.plan.steps.model_tests import RunTest

MERGE = (
    "{{ config(partition_by='day') }} merge into {{ this }} as t using raw.item as s on t.id = s.id and t.day = ON\n"
)
UPSERT = "when matched then update set * when not matched then insert *"
YAML = """
models:
  - name: fct
    columns: [{name: id, data_type: int}, {name: day, data_type: date}, {name: at, data_type: date}]
    data_tests: [{expression_is_true: {expression: id > 0, since: bounds}}]
"""


@pytest.mark.parametrize(
    ("on", "clauses", "bounded"),
    [
        ("s.day", UPSERT, True),
        ("s.`day`", UPSERT, True),
        ("s.at", UPSERT, False),
        ("s.at", "when not matched then insert (id, day) values (s.id, s.at)", True),
        ("s.day", "when not matched then insert (id, day) values (s.id, s.at)", False),
        ("s.day", "when not matched then insert (id) values (s.id)", False),
        ("s.day", "when matched and s.id > 3 then update set at = s.at when matched then delete", True),
        ("s.day", "when matched then update set t.day = s.at", False),
        ("s.day", UPSERT + " when not matched by source then delete", False),
    ],
)
def test_what_a_test_looks_at(make_project, on, clauses, bounded):
    root = make_project({"models/fct.sql": MERGE.replace("ON", on) + clauses, "models/m.yml": YAML})
    project = Project.load(root)
    node = next(node for node in project.graph.nodes if node.startswith("test."))
    step = next(step for step in Planner(project.prepared).plan(node).steps if isinstance(step, RunTest))
    assert (step.touched is not None) == bounded
    assert ("merge_runner_touched" in step.sql) == bounded
    if bounded:
        relation = step.touched.relation
        assert step.touched.query(None) == f"SELECT * FROM {relation}"
        assert (
            step.touched.query("t.day IN (1)") == f"SELECT * FROM {relation} AS t WHERE (t.day IN (1)) OR t.day IS NULL"
        )
