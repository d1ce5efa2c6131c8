"""A first unit test from real rows: it passes as it is, and is never written over."""

import pytest

from merge_runner import Project
from merge_runner.engine.driver.driver_source import GivenDriver
from merge_runner.engine.spark.errors import EngineError
from merge_runner.errors import ProblemsError
from merge_runner.run.model_tests.generate import write_first_unit_test
from merge_runner.run.results.events import Events
from tests.yaml_data import read_yaml

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


def generate(project, driver, name="fct", observe=lambda event: None):
    model = project.graph.nodes[f"model.shop.{name}"]
    return write_first_unit_test(project.prepared, model, Events(observe), GivenDriver(driver))


def test_it_passes_as_it_is_and_is_not_written_twice(make_project, driver):
    root = make_project(FILES)
    assert Project.load(root).build(driver=driver, lint=False).ok
    path = generate(Project.load(root), driver)
    assert path == root / "models/fct.unit_tests.yml"
    case = read_yaml(path)["unit_tests"][0]
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
    fct = read_yaml(generate(Project.load(root), driver))["unit_tests"][0]
    assert fct["given"][0] == {"input": "this", "rows": []}
    assert len(fct["expect"]["rows"]) == 3
    stg = read_yaml(generate(Project.load(root), driver, "stg"))["unit_tests"][0]
    assert stg["given"] is None
    assert len(stg["expect"]["rows"]) == 10
    assert Project.load(root).test(driver=driver).ok


NEWER = """
    merge into {{ this }} as t
    using (
        with mark as (select max(day) as day from {{ this }})
        select s.* from {{ ref('stg') }} as s cross join mark where mark.day is null or s.day >= mark.day
    ) as s on t.id = s.id
    when matched then update set day = s.day
    when not matched then insert *
    """


MARKED = NEWER.replace("with mark", "{% if is_incremental() %}with mark").replace(
    "where mark.day is null or s.day >= mark.day",
    "where s.day >= mark.day{% else %}select * from {{ ref('stg') }}{% endif %}",
)


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        pytest.param(
            NEWER,
            "models: [{name: fct, columns: [{name: id, data_type: bigint}, {name: day, data_type: date}]}]\n",
            marks=pytest.mark.nightly,
        ),
        pytest.param(MARKED, "models: [{name: fct, columns: [{name: id}]}]\n", marks=pytest.mark.slow),
    ],
    ids=["declared", "of the first run"],
)
def test_a_source_that_reads_its_own_target_has_rows_of_it(make_project, driver, text, declared):
    root = make_project({**FILES, "models/fct.sql": text, "models/m.yml": declared})
    assert Project.load(root).build(driver=driver, lint=False).ok
    case = read_yaml(generate(Project.load(root), driver))["unit_tests"][0]
    assert [(given["input"], len(given["rows"])) for given in case["given"]] == [("this", 3), ("ref('stg')", 3)]
    assert {row["id"] for row in case["expect"]["rows"]} >= {row["id"] for row in case["given"][0]["rows"]}
    results = Project.load(root).test(select="test_type:unit", driver=driver)
    assert [result.status for result in results.results] == ["pass"]


def test_a_test_that_expects_nothing_is_written_with_a_warning(make_project, driver):
    root = make_project({**FILES, "models/fct.sql": FILES["models/fct.sql"].replace("id < 8", "id > 800")})
    assert Project.load(root).run(select="stg", driver=driver).ok
    said = []
    generate(Project.load(root), driver, observe=lambda event: said.append(event.data.get("message")))
    assert any("fct makes no row of what was sampled" in message for message in said if message)


def test_of_inputs_without_rows_no_test_is_written(make_project, driver):
    root = make_project({**FILES, "models/stg.sql": "select id, current_date as day from range(0)"})
    assert Project.load(root).run(select="stg", driver=driver).ok
    with pytest.raises(EngineError) as raised:
        generate(Project.load(root), driver)
    assert raised.value.message == "no test is written: ref('stg') has no rows to take a sample of"
    assert "merge-runner build -s +fct" in raised.value.hint
    assert not (root / "models/fct.unit_tests.yml").exists()
