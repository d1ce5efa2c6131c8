"""`low_shuffle`: the rows beside the changed ones are neither shuffled nor written again."""

import itertools

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

NUMBERS = itertools.count()
MERGE = """
{{ config(low_shuffle=ON) }}
merge into {{ this }} as t using (select id, 'VALUE' as v from range(1000) where id % 100 < PART or id >= 990) as s on t.id = s.id
when matched then update set v = s.v
when not matched then insert *
"""


@pytest.fixture
def build(make_project, driver):
    """Builds a project of one merge again and again; gives the response and the relation."""
    roots = {}

    def run(table_format, on, part, value):
        if not roots:
            schema = f"{'ice.' if table_format == 'iceberg' else ''}low{next(NUMBERS)}"
            settings = f'[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.models]\nformat = "{table_format}"\n'
            profiles = f"shop: {{outputs: {{dev: {{master: 'local[2]', schema: {schema}}}}}}}\n"
            roots["root"] = make_project({"pyproject.toml": settings, "profiles.yml": profiles, "models/fct.sql": ""})
        text = MERGE.replace("ON", on, 1).replace("PART", str(part)).replace("VALUE", value)
        (roots["root"] / "models/fct.sql").write_text(text)
        project = Project.load(roots["root"])
        results = project.build(driver=driver, lint=False)
        assert results.ok, results["fct"].message
        return results["fct"].adapter_response, project.graph.nodes["model.shop.fct"].relation

    return run


@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_rows_beside_the_changed_ones_stay_where_they_are(build, spark, table_format):
    _, relation = build(table_format, "false", 100, "old")
    places = f"select id, input_file_name() as file from {relation}"
    before = {row.id: row.file for row in spark.sql(places).collect()}
    assert len(before) == 1000
    response, _ = build(table_format, "true", 1, "new")
    (altered,) = response["altered"]
    assert altered.startswith(
        "property delta.enableDeletionVectors is false"
        if table_format == "delta"
        else "property write.merge.mode is copy-on-write"
    )
    assert (response["rows_updated"], response["rows_copied"]) == (20, 0)
    after = {row.id: row.file for row in spark.sql(places).collect()}
    moved = {id for id, file in before.items() if after[id] != file}
    assert moved == {row.id for row in spark.sql(f"select id from {relation} where v = 'new'").collect()}
    assert len(moved) == 20


def test_it_is_switched_off_again(build):
    build("delta", "true", 100, "old")
    response, _ = build("delta", "false", 1, "new")
    assert response["altered"] == ["property delta.enableDeletionVectors is true, declared false"]
    assert response["rows_copied"] > 0
