"""`contract: {enforced: true}`: a model whose table would not be the declared one does not run, and writes nothing."""

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

YAML = """
models:
  - name: fct
    contract: {enforced: true}
    columns:
      - {name: id, data_type: bigint}
      - name: v
        data_type: varchar(5)
"""
MERGE = "merge EVOLVES into {{ this }} as t using (SOURCE) as s on t.id = s.id\nCLAUSES"
STAR = "when matched then update set * when not matched then insert *"
SAME = "select 1L as id, 'a' as v"


@pytest.fixture
def shop(make_project, driver, spark):
    class Shop:
        def __init__(self):
            self.root = make_project({"models/m.yml": YAML})

        def build(self, sql, **flags):
            (self.root / "models/fct.sql").write_text(sql)
            project = Project.load(self.root, **flags)
            self.relation = project.graph.nodes["model.shop.fct"].relation
            return project.build(driver=driver, lint=False)["fct"]

        def merge(self, source=SAME, evolves="", clauses=STAR, **flags):
            text = MERGE.replace("EVOLVES", evolves).replace("SOURCE", source).replace("CLAUSES", clauses)
            return self.build(text, **flags)

        def state(self):
            version = spark.sql(f"describe history {self.relation} limit 1").collect()[0]["version"]
            return version, [
                (field.name, field.dataType.simpleString()) for field in spark.table(str(self.relation)).schema
            ]

    return Shop()


EVOLVES = "with schema evolution"


@pytest.mark.parametrize(
    ("merge", "message"),
    [
        ({"source": SAME + ", 7 as n", "evolves": EVOLVES}, "models/m.yml:3:11: column n is not declared"),
        pytest.param(
            {
                "source": SAME + ", 7 as n",
                "evolves": EVOLVES,
                "clauses": "when not matched then insert (id, v, n) values (s.id, s.v, s.n)",
            },
            "models/m.yml:3:11: column n is not declared",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_merge_that_would_add_a_column_does_not_run(shop, merge, message):
    result = shop.merge(**merge)
    assert result.status == "error"
    assert message in result.message
    assert shop.merge().status == "success"
    before = shop.state()
    result = shop.merge(**merge)
    assert (result.status, shop.state()) == ("error", before)
    assert message in result.message
    # The same text without evolution is what the engine makes of it.
    assert shop.merge(**merge | {"evolves": ""}).status == ("success" if "clauses" not in merge else "error")
    result = shop.merge(**merge, full_refresh=True)
    assert (result.status, shop.state()[1]) == ("error", before[1])


@pytest.mark.slow
def test_a_type_that_would_be_widened(shop, spark):
    assert shop.merge().status == "success"
    spark.sql(f"alter table {shop.relation} set tblproperties ('delta.enableTypeWidening' = 'true')")
    (shop.root / "models/m.yml").write_text(YAML.replace("bigint", "int"))
    result = shop.merge("select 1 as id, 'a' as v", full_refresh=True)
    assert result.status == "success", result.message
    spark.sql(f"alter table {shop.relation} set tblproperties ('delta.enableTypeWidening' = 'true')")
    before = shop.state()
    result = shop.merge(evolves=EVOLVES)
    assert (result.status, shop.state()) == ("error", before)
    assert "models/m.yml:6:16: column id is bigint, declared int: the MERGE would make it so" in result.message


def test_a_table_that_is_another_stays_as_it_is(shop, spark):
    assert shop.merge().status == "success"
    spark.sql(f"alter table {shop.relation} add columns (extra int)")
    before = shop.state()
    result = shop.merge("select 1L as id, 'a' as v, 1 as extra")
    assert (result.status, shop.state()) == ("error", before)
    assert "models/m.yml:3:11: column extra is not declared" in result.message
    (shop.root / "models/m.yml").write_text(YAML.replace("bigint", "string"))
    told = shop.merge().message
    assert "models/m.yml:6:16: column id is bigint, declared string" in told
    (shop.root / "models/m.yml").write_text(YAML)
    assert shop.merge(full_refresh=True).status == "success"
    assert shop.state()[1] == [("id", "bigint"), ("v", "string")]


@pytest.mark.parametrize("kind", ["table", "view"])
def test_a_query_with_other_columns_is_not_run(shop, kind):
    config = f"{{{{ config(materialized='{kind}') }}}} "
    assert shop.build(config + "select 1L as id, 'a' as v").status == "success"
    result = shop.build(config + "select 1 as id, 'a' as w")
    assert result.status == "error"
    assert result.message.startswith(
        "models/m.yml:6:16: column id is int, declared bigint; models/m.yml:7:15: column v is missing; "
        "models/m.yml:3:11: column w is not declared"
    )


def test_an_iceberg_table_is_not_widened_either(make_project, driver, spark):
    yaml = YAML.replace("bigint", "int").replace("varchar(5)", "string")
    root = make_project({"models/m.yml": yaml}, "iceberg")

    def build(source, clauses=STAR, evolves=EVOLVES):
        text = MERGE.replace("EVOLVES", evolves).replace("SOURCE", source).replace("CLAUSES", clauses)
        (root / "models/fct.sql").write_text(text)
        project = Project.load(root)
        return project.build(driver=driver, lint=False)["fct"], project.graph.nodes["model.shop.fct"].relation

    result, relation = build("select 1 as id, 'a' as v")
    assert result.status == "success", result.message
    before = spark.table(str(relation)).schema
    named = "when matched then update set id = s.id + 1 when not matched then insert (id, v) values (s.id, s.v)"
    for source, clauses in (("select 1L as id, 'a' as v", STAR), ("select 1L as id, 'a' as v", named)):
        result, _ = build(source, clauses)
        assert result.status == "error"
        assert "models/m.yml:6:16: column id is declared int: the MERGE would make it bigint" in result.message
        assert spark.table(str(relation)).schema == before
    assert build("select 2L as id, 'b' as v", evolves="")[0].status == "success"
