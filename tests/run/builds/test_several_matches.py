"""Several source rows that match one target row are refused, also where the engine would duplicate the row."""

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

MERGE = """
{{{{ config(properties={{'write.merge.mode': '{mode}'}}) }}}}
merge into {{{{ this }}}} as t using (select * from values {rows} as v(id, v)) as s on t.id = s.id
when not matched then insert * when not matched by source then delete
"""


@pytest.mark.parametrize("mode", ["copy-on-write", "merge-on-read"])
def test_a_merge_that_spark_would_have_copy_rows(make_project, driver, mode):
    def build(rows):
        (root / "models/fct.sql").write_text(MERGE.format(mode=mode, rows=rows))
        project = Project.load(root)
        return project, project.build(driver=driver, lint=False)["fct"]

    root = make_project({"models/fct.sql": ""}, "iceberg")
    project, first = build("(1, 'a'), (2, 'b')")
    assert first.status == "success"
    _, second = build("(1, 'x'), (1, 'y'), (3, 'c')")
    table = str(project.graph.nodes["model.shop.fct"].relation)
    ids = sorted(row.id for row in driver.spark.table(table).collect())
    if mode == "copy-on-write":
        assert second.status == "error"
        assert "several source rows match one target row: t.id = 1 (2 source rows)" in second.message
        assert second.message.startswith("models/fct.sql:3:")  # ON
        assert ids == [1, 2]
    else:
        assert second.status == "success"
        assert ids == [1, 3]
    _, third = build("(1, 'x'), (4, 'd')")
    assert third.status == "success"
    assert sorted(row.id for row in driver.spark.table(table).collect()) == [1, 4]
