"""`on_schema_change`: what a build does where the table lacks a column that has been declared since."""

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

YAML = """
models:
  - name: fct
    config: {CONFIG}
    columns:
      - {name: id, data_type: int}
      - {name: v, data_type: string}
"""
CHANNEL = "      - {name: channel, data_type: string, description: where it was sold}\n"
MERGE = "merge EVOLVES into {{ this }} as t using (SOURCE) as s on t.id = s.id\nCLAUSES"
STAR = "when matched then update set * when not matched then insert *"
OLD = "select 1 as id, 'a' as v"
NEW = "select 2 as id, 'b' as v, 'web' as channel"
APPEND = "on_schema_change: append_new_columns"


@pytest.fixture(params=[pytest.param("delta", marks=pytest.mark.nightly), "iceberg"])
def table_format(request):
    return request.param


@pytest.fixture
def shop(make_project, driver, spark):
    class Shop:
        def __init__(self):
            self.root = None

        def load(
            self, source=OLD, more="", config="", evolves="", clauses=STAR, columns=True, table_format="delta", **flags
        ):
            self.root = self.root or make_project({}, table_format)
            (self.root / "models").mkdir(exist_ok=True)
            text = MERGE.replace("EVOLVES", evolves).replace("SOURCE", source).replace("CLAUSES", clauses)
            (self.root / "models/fct.sql").write_text(text)
            yaml = YAML if columns else YAML[: YAML.index("    columns:")]
            (self.root / "models/m.yml").write_text(yaml.replace("CONFIG", config) + more)
            return Project.load(self.root, **flags)

        def build(self, *words, **flags):
            project = self.load(*words, **flags)
            self.relation = project.graph.nodes["model.shop.fct"].relation
            return project.build(driver=driver, lint=False)["fct"]

        @property
        def columns(self):
            return [(field.name, field.dataType.simpleString()) for field in spark.table(str(self.relation)).schema]

        @property
        def rows(self):
            return sorted(tuple(row) for row in spark.table(str(self.relation)).collect())

    return Shop()


@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
def test_a_column_declared_later_is_added_and_filled_in_the_same_run(shop, spark, table_format):
    assert shop.build(table_format=table_format).status == "success"
    files = set(spark.table(str(shop.relation)).inputFiles())
    result = shop.build(NEW, CHANNEL, APPEND)
    assert (result.status, result.warnings) == ("success", ())
    assert result.adapter_response["altered"] == ["column channel added"]
    assert "altered: column channel added" in result.message
    assert shop.rows == [(1, "a", None), (2, "b", "web")]
    assert spark.table(str(shop.relation)).schema["channel"].metadata["comment"] == "where it was sold"
    assert files <= set(spark.table(str(shop.relation)).inputFiles())
    again = shop.build(NEW, CHANNEL, APPEND)
    assert ("altered" in again.adapter_response, again.warnings) == (False, ())


def test_by_default_a_warning_says_once_what_to_write(shop, table_format):
    shop.build(table_format=table_format)
    result = shop.build(NEW, CHANNEL)
    assert result.status == "success"
    assert result.warnings == (
        f"{shop.relation.name}: column channel is missing: write `on_schema_change: append_new_columns` in the model's "
        "config to add it, or build with --full-refresh",
    )
    assert shop.columns == [("id", "int"), ("v", "string")]


def test_a_merge_that_adds_the_column_itself_does_not_warn_of_it(shop, table_format):
    shop.build(table_format=table_format)
    result = shop.build(NEW, CHANNEL, evolves="with schema evolution")
    assert (result.status, result.warnings) == ("success", ())
    assert shop.rows == [(1, "a", None), (2, "b", "web")]


@pytest.mark.parametrize("table_format", [pytest.param("delta", marks=pytest.mark.slow), "iceberg"])
def test_declared_columns_are_added_before_the_schema_evolves(shop, table_format):
    """The declared type counts; what else the source brings is added by the MERGE.

    Iceberg 1.12.0 refuses a source of a narrower type where the schema evolves ("Cannot change column type: n: long ->
    int"), so the source has the declared type there.
    """
    shop.build(table_format=table_format)
    more = "      - {name: n, data_type: bigint}\n"
    number = "5" if table_format == "delta" else "5L"
    result = shop.build(f"select 2 as id, 'b' as v, {number} as n, 1 as m", more, APPEND, "with schema evolution")
    assert result.status == "success", result.message
    assert result.adapter_response["altered"] == ["column n added"]
    assert shop.columns == [("id", "int"), ("v", "string"), ("n", "bigint"), ("m", "int")]


def test_fail_stops_the_model_before_anything_is_written(shop, table_format):
    assert shop.build(config="on_schema_change: fail", table_format=table_format).status == "success"
    before = (shop.columns, shop.rows)
    result = shop.build(NEW, CHANNEL, "on_schema_change: fail")
    assert result.status == "error"
    assert result.message.startswith("models/m.yml:8:16: column channel is missing [schema-change]")
    assert "`on_schema_change` is fail: " in result.message
    assert "`on_schema_change: append_new_columns` adds missing columns" in result.message
    assert (shop.columns, shop.rows) == before
    assert shop.build(NEW, CHANNEL, "on_schema_change: fail", full_refresh=True).status == "success"
    assert shop.rows == [(2, "b", "web")]


def test_without_declared_columns_those_of_the_source_are_meant(shop, table_format):
    shop.build(columns=False, table_format=table_format)
    assert shop.build(NEW, columns=False).warnings == ()
    assert shop.columns == [("id", "int"), ("v", "string")]
    failed = shop.build(NEW, columns=False, config="on_schema_change: fail")
    assert "models/m.yml:3:11: column channel of the source is not in the table" in failed.message
    result = shop.build(NEW, columns=False, config=APPEND)
    assert (result.status, result.adapter_response["altered"]) == ("success", ["column channel added"])
    assert shop.rows[-1] == (2, "b", "web")


def test_what_alter_cannot_add_is_reported(shop):
    config = f"{APPEND}, properties: {{delta.feature.allowColumnDefaults: supported}}"
    shop.build()
    more = (
        "      - {name: g, data_type: int, constraints: [{type: custom, expression: generated always as (id + 1)}]}\n"
        "      - {name: d, data_type: string, constraints: [{type: not_null}, {type: custom, expression: \"default 'x'\"}]}\n"
        "      - {name: nowhere}\n"
    )
    result = shop.build(more=more, config=config, clauses="when not matched then insert (id, v) values (s.id, s.v)")
    assert result.status == "success", result.message
    assert result.adapter_response["altered"] == [
        "column d added",
        "property delta.feature.allowColumnDefaults is not set, declared supported",
        "default of column d is not set, declared 'x'",
    ]
    warnings = [text.partition(": ")[2] for text in result.warnings]
    assert warnings[:2] == [
        "column nowhere is missing: declare its data_type, and the next build adds it",
        "column g is missing: no ALTER adds a generated column; build with --full-refresh",
    ]
    assert warnings[2].startswith("column d takes NULL, declared NOT NULL: ")
    assert len(warnings) == 3
    assert shop.columns == [("id", "int"), ("v", "string"), ("d", "string")]


@pytest.mark.slow
def test_a_contract_holds_for_what_the_table_has_once_columns_are_added(shop):
    contract = "contract: {enforced: true}"
    named = "when matched then update set channel = s.channel when not matched then insert *"
    assert shop.build(config=contract).status == "success"
    result = shop.build(NEW, CHANNEL, contract, clauses=named)
    assert result.status == "error"
    assert "models/m.yml:8:16: column channel is missing" in result.message
    assert "`on_schema_change: append_new_columns` adds missing columns" in result.message
    result = shop.build(NEW, CHANNEL, f"{contract}, {APPEND}", clauses=named)
    assert (result.status, shop.rows) == ("success", [(1, "a", None), (2, "b", "web")]), result.message
    more = CHANNEL + "      - {name: n, data_type: int}\n"
    evolved = shop.build(f"{NEW}, 1 as n, 1 as other", more, f"{contract}, {APPEND}", "with schema evolution")
    assert evolved.status == "error"
    assert "column other is not declared" in evolved.message
    assert "no row was written" in evolved.message
    assert shop.rows == [(1, "a", None, None), (2, "b", "web", None)]
