"""`clone`: the Delta tables of another target as shallow clones, and the views; branches of Iceberg tables."""

import json

import pytest

from merge_runner import Project
from merge_runner.cli.host import Host
from merge_runner.cli.main import main
from merge_runner.errors import ProblemsError
from tests.fake_engine import FakeDriver, Lake, Starts
from tests.fake_engine.projects import model_files

MODEL = """
    merge into {{ this }} as t
    using (select id, 1 as n from range({{ var('rows', 3) }})
        {% if is_incremental() %} where id > (select max(id) from {{ this }}) {% endif %}) as s
    on t.id = s.id
    when not matched then insert *
"""
FILES = {
    "profiles.yml": """
        shop:
          target: prod
          outputs:
            prod: {master: 'local[2]', schema: SCHEMA_prod, warehouse: warehouse}
            dev: {master: 'local[2]', schema: SCHEMA_dev, warehouse: warehouse}
    """,
    "models/fct.sql": MODEL,
    "models/fct.yml": "models: [{name: fct, columns: [{name: id, data_type: bigint}, {name: n, data_type: int}]}]",
    "models/tab.sql": "{{ config(materialized='table') }} select count(*) as n from {{ ref('fct') }}",
    "models/seen.sql": "{{ config(materialized='view') }} select * from {{ ref('fct') }}",
    "seeds/colours.csv": "id,name\n1,red\n",
}


def files(schema, **more):
    return {**FILES, "profiles.yml": FILES["profiles.yml"].replace("SCHEMA", schema), **more}


def kept(root):
    """Keep the manifest of the last command, as a job of production does, and return its folder."""
    (root / "state").mkdir(exist_ok=True)
    (root / "state/manifest.json").write_text((root / "target/manifest.json").read_text())
    return root / "state"


def statuses(results):
    return {each.unique_id.split(".")[2]: each.status for each in results.results}


def test_what_cannot_be_cloned_is_refused_before_anything_runs(make_project):
    root = make_project(files("refused"))
    Project.load(root).parse()
    state = kept(root)
    driver = FakeDriver()
    with pytest.raises(ProblemsError, match=r"refused_prod\.fct is the table of --state itself"):
        Project.load(root).clone(state, "fct", driver=driver)
    manifest = json.loads((state / "manifest.json").read_text())
    manifest["nodes"]["model.shop.fct"]["config"]["format"] = "iceberg"
    (state / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ProblemsError, match="an Iceberg table, which Spark cannot clone here") as raised:
        Project.load(root, target="dev").clone(state, "fct", driver=driver)
    assert "build --defer --state" in raised.value.problems[0].hint
    assert driver.statements == []


def test_the_command(make_project, capsys):
    root = make_project(files("command"))
    Project.load(root).parse()
    state = kept(root)
    for arguments, code, says in (
        (["clone", "-t", "dev"], 2, "clone needs --state"),
        (["clone", "-t", "dev", "--branch", "ci"], 2, "fct is a Delta table, which has no branches"),
        (["clone", "-t", "dev", "--state", str(root / "models")], 2, "manifest.json"),
        (["clone", "--state", str(state)], 2, "is the table of --state itself"),
    ):
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--project-dir", str(root)], Host(start=Starts(FakeDriver(Lake()))))
        assert (ended.value.code, says in " ".join(capsys.readouterr().err.split())) == (code, True), arguments


def test_branches_are_made_of_tables_as_they_are_now(make_project):
    root, lake = make_project(model_files({"a": None, "b": {"parents": ["a"]}, "new": None}), "iceberg"), Lake()
    project = Project.load(root)
    assert project.build("a b", driver=FakeDriver(lake), lint=False).ok
    driver = FakeDriver(lake)
    made = project.clone(select="a b", branch="ci", driver=driver)
    assert statuses(made) == {"a": "success", "b": "success"}
    assert {each.adapter_response["operation"] for each in made.results} == {"CREATE BRANCH"}
    assert statuses(project.clone(branch="ci", driver=driver)) == {"a": "no-op", "b": "no-op", "new": "error"}
    # Main goes on, and the branch has what main had; a build of the branch writes it alone.
    assert project.build("a", driver=FakeDriver(lake), lint=False, reuse="off").ok
    assert project.build("b", branch="ci", driver=FakeDriver(lake), lint=False).ok
    a, b = (lake.tables[str(project.graph.nodes[f"model.shop.{name}"].relation)] for name in "ab")
    assert (a.version - a.branches["ci"].version, b.branches["ci"].version - b.version) == (1, 1)
    again = Project.load(root, full_refresh=True).clone(select="a", branch="ci", driver=driver)
    assert (statuses(again), a.branches["ci"].version) == ({"a": "success"}, a.version)


@pytest.mark.spark
@pytest.mark.slow
def test_a_branch_of_an_iceberg_table_is_a_clone_of_it(make_project, driver, spark):
    files = {path: text for path, text in FILES.items() if path.startswith("models/fct")}
    root = make_project(files, "iceberg")
    assert Project.load(root).build(driver=driver, lint=False).ok
    table = Project.load(root).graph.nodes["model.shop.fct"].relation

    def rows(branch):
        return spark.sql(f"select * from {table} version as of '{branch}'").count()

    assert statuses(Project.load(root).clone(branch="ci", driver=driver)) == {"fct": "success"}
    assert Project.load(root, vars={"rows": 5}).build(driver=driver, lint=False).ok
    assert (rows("main"), rows("ci")) == (5, 3)
    built = Project.load(root, vars={"rows": 9}).build(branch="ci", driver=driver, lint=False)
    assert built["fct"].adapter_response["rows_inserted"] == 6
    assert (rows("main"), rows("ci")) == (5, 9)
    again = Project.load(root, full_refresh=True).clone(branch="ci", driver=driver)
    assert (statuses(again), rows("ci")) == ({"fct": "success"}, 5)


@pytest.mark.spark
@pytest.mark.slow
def test_clones_have_the_rows_and_are_written_alone(make_project, driver):
    root = make_project(files("cloned"))
    prod = Project.load(root)
    assert prod.build(driver=driver, lint=False).ok
    state = kept(root)

    def rows(target, name):
        relation = Project.load(root, target=target).graph.nodes[f"model.shop.{name}"].relation
        return driver.spark.table(str(relation)).count()

    dev = Project.load(root, target="dev")
    results = dev.clone(state, driver=driver)
    assert statuses(results) == {"colours": "success", "fct": "success", "seen": "success", "tab": "success"}
    assert (rows("dev", "fct"), rows("dev", "seen")) == (3, 3)
    built = Project.load(root, target="dev", vars={"rows": 5}).build("fct", driver=driver, lint=False)
    assert (built["fct"].adapter_response["is_incremental"], built["fct"].adapter_response["rows_inserted"]) == (
        True,
        2,
    )
    assert (rows("dev", "fct"), rows("prod", "fct")) == (5, 3)
    assert statuses(dev.clone(state, "fct", driver=driver)) == {"fct": "no-op"}
    assert rows("dev", "fct") == 5
    again = Project.load(root, target="dev", full_refresh=True).clone(state, "fct", driver=driver)
    assert (statuses(again), rows("dev", "fct")) == ({"fct": "success"}, 3)
