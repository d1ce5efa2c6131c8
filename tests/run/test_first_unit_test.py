"""A first unit test from real rows: it passes as it is, and is never written over."""

import pytest
import yaml

from merge_runner import Project
from merge_runner.errors import ProblemsError
from merge_runner.run.events import Events
from merge_runner.run.first_unit_test import write_first_unit_test

pytestmark = pytest.mark.spark

FILES = {
    "models/stg.sql": """
        select id, date_add(date'2024-01-01', cast(id as int)) as day, cast(id as decimal(20, 2)) / 3 as exact, named_struct('a', id) as s
        from range(10)
        """,
    "models/fct.sql": """
        merge into {{ this }} as t using (select * from {{ ref('stg') }} where id < 8) as s on t.id = s.id
        when matched and s.exact <> t.exact then update set *
        when not matched then insert *
        """,
    "models/m.yml": "models: [{name: stg, columns: [{name: id, data_type: bigint}]}]\n",
}


def generate(project, driver, name="fct"):
    model = project.graph.nodes[f"model.shop.{name}"]
    return write_first_unit_test(project.prepared, model, Events(lambda _: None), driver)


def test_it_passes_as_it_is_and_is_not_written_twice(make_project, driver):
    root = make_project(FILES)
    assert Project.load(root).build(driver=driver, lint=False).ok
    path = generate(Project.load(root), driver)
    assert path == root / "models/fct.unit_tests.yml"
    case = yaml.safe_load(path.read_text())["unit_tests"][0]
    assert [given["input"] for given in case["given"]] == ["this", "ref('stg')"]
    assert [len(given["rows"]) for given in case["given"]] == [3, 3]
    assert case["given"][0]["rows"] == case["expect"]["rows"]
    results = Project.load(root).test(select="test_type:unit", driver=driver)
    assert [result.status for result in results.results] == ["pass"]
    with pytest.raises(ProblemsError, match="is there already"):
        generate(Project.load(root), driver)


def test_a_query_and_a_table_that_has_not_been_built(make_project, driver):
    root = make_project(FILES)
    assert Project.load(root).run(select="stg", driver=driver).ok
    fct = yaml.safe_load(generate(Project.load(root), driver).read_text())["unit_tests"][0]
    assert fct["given"][0] == {"input": "this", "rows": []}
    assert len(fct["expect"]["rows"]) == 3
    stg = yaml.safe_load(generate(Project.load(root), driver, "stg").read_text())["unit_tests"][0]
    assert stg["given"] is None
    assert len(stg["expect"]["rows"]) == 10
    assert Project.load(root).test(driver=driver).ok
