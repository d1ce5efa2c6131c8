"""`changes('model')`: each change of a table reaches its reader once, whatever happens to either of them."""

import shutil

import pytest

from merge_runner import Project

pytestmark = pytest.mark.spark

COLUMNS = """
models:
  - {name: stg, columns: [{name: id, data_type: bigint}, {name: v, data_type: string}]}
  - name: fct
    columns:
      - {name: id, data_type: bigint}
      - {name: v, data_type: string}
      - {name: kind, data_type: string}
      - {name: version, data_type: bigint}
"""
STG = """
merge into {{ this }} as t using (values (1L, 'a'), (2L, 'b'), (3L, 'c') as s(id, v)) as s on t.id = s.id
when not matched then insert *
"""
FCT = """
{{ config(CONFIG) }}
merge into {{ this }} as t
using (
    select if({{ var('broken') }}, raise_error('broken'), id) as id, v, _change_type as kind, _commit_version as version
    from {{ changes('stg') }}
) as s on false
when not matched then insert *
"""
"""Keeps every change that it is given: what it is given twice stands there twice."""


class Shop:
    """A project of a table, `stg`, and a reader of its changes, `fct`, that is built again and again."""

    def __init__(self, root, driver, spark):
        self.root, self.driver, self.spark = root, driver, spark
        nodes = Project.load(root, vars={"broken": "false"}).graph.nodes
        self.stg, self.fct = (nodes[f"model.shop.{name}"].relation for name in ("stg", "fct"))

    def build(self, select="fct", broken="false", driver=None, on_event=None, full_refresh=False, batch_id=None):
        project = Project.load(self.root, vars={"broken": broken}, full_refresh=full_refresh)
        return project.build(
            driver=driver or self.driver,
            lint=False,
            select=select,
            threads=1,
            batch_id=batch_id,
            on_event=on_event,
        )

    def read(self, **options):
        """Builds the reader; gives its status and message, and what it has by now."""
        result = self.build(**options)["fct"]
        return result.status, result.message, self.seen()

    def seen(self, reader=None):
        """The changes in a reader's table: `kind id v @version`, in their order."""
        rows = self.spark.table(str(reader or self.fct)).orderBy("version", "id", "kind").collect()
        return [f"{row['kind']} {row['id']} {row['v']} @{row['version']}" for row in rows]

    def sql(self, text):
        return self.spark.sql(text.format(stg=self.stg, fct=self.fct)).collect()


@pytest.fixture
def shop(make_project, driver, spark):
    def make(config="", built=True):
        files = {
            "models/stg.sql": STG,
            "models/fct.sql": FCT.replace("CONFIG", config),
            "models/m.yml": COLUMNS,
        }
        found = Shop(make_project(files), driver, spark)
        if built:
            results = found.build(select=())
            assert results.ok, [result.message for result in results.results]
        return found

    return make


FIRST = ["insert 1 a @1", "insert 2 b @1", "insert 3 c @1"]

CLAUSES = [
    ("(1L, 'x')", "when matched then update set *", ["update_preimage 1 a", "update_postimage 1 x"]),
    ("(2L, 'x')", "when matched and t.v = 'b' then delete", ["delete 2 b"]),
    ("(4L, 'd')", "when not matched then insert *", ["insert 4 d"]),
    (
        "(1L, 'x')",
        "when not matched by source and t.id = 3 then update set v = 'y'",
        ["update_preimage 3 c", "update_postimage 3 y"],
    ),
    ("(1L, 'x'), (3L, 'x')", "when not matched by source then delete", ["delete 4 d"]),
    # Several source rows match one row: it is deleted, and told, once.
    ("(3L, 'p'), (3L, 'q'), (3L, 'r'), (9L, 's')", "when matched then delete", ["delete 3 y"]),
    # All at once. A row that is written again as it was is an update like any other.
    (
        "(1L, 'x'), (5L, 'e'), (6L, 'f')",
        "when matched then update set * when not matched and s.id = 5 then insert * "
        "when not matched by source then delete",
        ["update_preimage 1 x", "update_postimage 1 x", "insert 5 e"],
    ),
    ("(7L, 'g')", "when matched then update set *", []),
]


@pytest.mark.slow
def test_the_rows_of_every_clause_kind(shop):
    found = shop()
    assert found.seen() == FIRST
    expected = list(FIRST)
    for number, (values, clauses, changes) in enumerate(CLAUSES, start=2):
        found.sql(f"merge into {{stg}} as t using (values {values} as s(id, v)) as s on t.id = s.id {clauses}")
        expected += sorted(
            (f"{change} @{number}" for change in changes), key=lambda each: (each.split()[1], each.split()[0])
        )
    status, message, seen = found.read()
    assert (status, seen) == ("success", expected), message
    response = found.build(broken="true")["fct"]
    assert response.status == "no-op"


def test_each_change_is_consumed_once(shop):
    found = shop("post_hook=\"select if({{ var('broken') }}, raise_error('hook'), 1)\"")
    result = found.build()["fct"]
    assert (result.status, result.message) == ("no-op", f"no changes of {found.stg.name} since version 1")
    assert result.adapter_response["rows_affected"] == 0

    # A statement that fails has consumed nothing; a hook that fails behind it has no say.
    found.sql("insert into {stg} values (4, 'd')")
    status, message, seen = found.read(broken="true")
    assert (status, seen) == ("error", FIRST)
    assert "broken" in message
    status, message, seen = found.read()
    assert (status, seen) == ("success", [*FIRST, "insert 4 d @2"])
    found.sql("delete from {stg} where id = 4")
    (found.root / "models/fct.sql").write_text(
        FCT.replace("CONFIG", "post_hook=\"select raise_error('hook')\"").replace("{{ var('broken') }}", "false")
    )
    status, message, seen = found.read()
    assert (status, seen) == ("error", [*FIRST, "insert 4 d @2", "delete 4 d @3"])
    (found.root / "models/fct.sql").write_text(FCT.replace("CONFIG", ""))
    assert found.read()[::2] == ("no-op", seen)

    # With a batch id as without: what was consumed says what there is to do.
    found.sql("insert into {stg} values (5, 'e')")
    result = found.build(batch_id=7)["fct"]
    assert (result.status, result.adapter_response["changes"]) == (
        "success",
        {"of": found.stg.name, "from_version": 4, "to_version": 4},
    )
    found.sql("insert into {stg} values (6, 'f')")
    assert found.read(batch_id=7)[::2] == ("success", [*seen, "insert 5 e @4", "insert 6 f @5"])


@pytest.mark.nightly
def test_two_readers_of_one_table_consume_its_changes_each_for_itself(make_project, driver, spark):
    """One fails before its commit and one behind it, as a crash might: the next build reads what each has not consumed."""
    more = FCT.replace("CONFIG", "post_hook=\"select if({{ var('broken') }}, raise_error('hook'), 1)\"")
    root = make_project(
        {
            "models/stg.sql": STG,
            "models/fct.sql": FCT.replace("CONFIG", ""),
            "models/more.sql": more.replace("if({{ var('broken') }}, raise_error('broken'), id)", "id"),
            "models/m.yml": COLUMNS + COLUMNS[COLUMNS.index("  - name: fct") :].replace("fct", "more"),
        }
    )
    found = Shop(root, driver, spark)
    other = Project.load(root, vars={"broken": "false"}).graph.nodes["model.shop.more"].relation

    def read(broken):
        results = found.build(select=["fct", "more"], broken=broken)
        return {name: results[name].status for name in ("fct", "more")}, found.seen(), found.seen(other)

    assert found.build(select=()).ok
    assert (found.seen(), found.seen(other)) == (FIRST, FIRST)
    found.sql("insert into {stg} values (4, 'd')")
    once = [*FIRST, "insert 4 d @2"]
    assert read(broken="true") == ({"fct": "error", "more": "error"}, FIRST, once)
    found.sql("delete from {stg} where id = 4")
    twice = [*once, "delete 4 d @3"]
    assert read(broken="false") == ({"fct": "success", "more": "success"}, twice, twice)
    assert read(broken="false") == ({"fct": "no-op", "more": "no-op"}, twice, twice)


@pytest.mark.slow
def test_a_reader_that_is_made_again_reads_the_whole_table(shop):
    found = shop()
    found.sql("delete from {stg} where id = 1")
    assert found.read(full_refresh=True)[::2] == ("success", ["insert 2 b @2", "insert 3 c @2"])
    assert found.read()[0] == "no-op"
    # Killed between the two commits of a full refresh: the table is empty, and has consumed nothing.
    location = found.root / "warehouse" / found.fct.schema / "fct"
    found.sql(
        "create or replace table {fct} (id bigint, v string, kind string, version bigint) "
        f"using delta location '{location}'"
    )
    assert found.read()[::2] == ("success", ["insert 2 b @2", "insert 3 c @2"])


@pytest.mark.slow
def test_a_table_that_is_made_again_tells_that_all_rows_are_others(shop):
    found = shop()
    found.sql("update {stg} set v = 'z' where id = 1")
    assert found.build(select="stg", full_refresh=True).ok
    assert found.read()[::2] == (
        "success",
        [
            *FIRST,
            *("update_postimage 1 z @2", "update_preimage 1 a @2"),
            *("delete 1 z @3", "delete 2 b @3", "delete 3 c @3"),
            *("insert 1 a @4", "insert 2 b @4", "insert 3 c @4"),
        ],
    )
    found.sql("restore table {stg} to version as of 2")
    status, message, seen = found.read()
    assert (status, [each for each in seen if each.endswith("@5")]) == (
        "success",
        ["delete 1 a @5", "insert 1 z @5", "delete 2 b @5", "insert 2 b @5", "delete 3 c @5", "insert 3 c @5"],
    ), message


@pytest.mark.nightly
def test_a_table_of_a_query_and_a_seed_have_changes_as_well(make_project, driver, spark):
    root = make_project(
        {
            "models/stg.sql": "{{ config(materialized='table') }} select id, v from {{ ref('numbers') }}",
            "models/fct.sql": FCT.replace("CONFIG", ""),
            "models/more.sql": FCT.replace("CONFIG", "").replace("'stg'", "'numbers'"),
            "models/m.yml": COLUMNS + COLUMNS[COLUMNS.index("  - name: fct") :].replace("fct", "more"),
            "seeds/numbers.csv": "id,v\n1,a\n",
        }
    )
    found = Shop(root, driver, spark)
    assert found.build(select=()).ok
    (root / "seeds/numbers.csv").write_text("id,v\n2,b\n")
    assert found.build(select=()).ok
    assert found.seen() == ["insert 1 a @0", "delete 1 a @1", "insert 2 b @1"]


@pytest.mark.slow
def test_another_writer_gets_ahead(shop, race):
    """The reader's table is written meanwhile: its MERGE runs again, over the changes there are by then."""
    found = shop("bounds='off'")
    text = (found.root / "models/fct.sql").read_text()
    (found.root / "models/fct.sql").write_text(text.replace("raise_error('broken'), id)", "0L, gate(id))"))
    found.sql("insert into {stg} values (4, 'd')")

    def meanwhile():
        found.sql("insert into {fct} values (0, 'other', 'none', 0)")
        found.sql("insert into {stg} values (5, 'e')")

    events = []
    results = race.meanwhile(meanwhile, lambda: found.build(driver=race, on_event=events.append))
    assert results["fct"].status == "success", results["fct"].message
    assert results["fct"].adapter_response["attempts"] == 2
    assert found.seen() == ["none 0 other @0", *FIRST, "insert 4 d @2", "insert 5 e @3"]


@pytest.mark.nightly
def test_another_run_of_the_reader_gets_ahead(shop, race):
    found = shop("bounds='off'")
    text = (found.root / "models/fct.sql").read_text()
    gated = text.replace("raise_error('broken'), id)", "0L, gate(id))")
    found.sql("insert into {stg} values (4, 'd')")

    def meanwhile():
        # The same model in another process, without the lock of this warehouse.
        (found.root / "warehouse/.locks").rename(found.root / "warehouse/.away")
        (found.root / "models/fct.sql").write_text(text)
        assert found.build()["fct"].status == "success"
        found.sql("insert into {stg} values (5, 'e')")

    (found.root / "models/fct.sql").write_text(gated)
    results = race.meanwhile(meanwhile, lambda: found.build(driver=race))
    assert (results["fct"].status, results["fct"].adapter_response["attempts"]) == ("success", 2)
    assert found.seen() == [*FIRST, "insert 4 d @2", "insert 5 e @3"]


@pytest.mark.parametrize(
    ("statements", "message"),
    [
        pytest.param(
            [
                "alter table {stg} set tblproperties ('delta.enableChangeDataFeed' = 'false')",
                "insert into {stg} values (4, 'd')",
                "alter table {stg} set tblproperties ('delta.enableChangeDataFeed' = 'true')",
            ],
            "the changes of {stg} from version 2 to 4 cannot be read",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ["alter table {stg} set tblproperties ('delta.enableChangeDataFeed' = 'false')"],
            "{stg} keeps no change feed",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            [
                "update {stg} set v = 'z'",
                "set spark.databricks.delta.retentionDurationCheck.enabled = false",
                "vacuum {stg} retain 0 hours",
            ],
            "the changes of {stg} from version 2 to 4 cannot be read",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            ["restore table {fct} to version as of 0"], "{fct} was restored in version 2", marks=pytest.mark.slow
        ),
    ],
)
def test_changes_that_cannot_be_read_are_an_error_until_all_is_read_again(shop, statements, message):
    found = shop()
    for statement in statements:
        found.sql(statement)
    status, told, seen = found.read()
    assert status == "error"
    assert message.format(stg=found.stg.name, fct=found.fct.name) in told
    if "keeps no change feed" in message:
        assert found.build(select="stg").ok
    status, told, seen = found.read(full_refresh=True)
    rows = [f"insert {row['id']} {row['v']}" for row in found.spark.table(str(found.stg)).orderBy("id").collect()]
    assert (status, [each.rpartition(" ")[0] for each in seen]) == ("success", rows), told


@pytest.mark.nightly
def test_a_table_that_was_dropped_and_made_again_is_another(shop):
    found = shop()
    location = found.root / "warehouse" / found.stg.schema / "stg"
    found.sql("drop table {stg}")
    shutil.rmtree(location)
    found.sql(
        "create table {stg} (id bigint, v string) using delta "
        f"location '{location}' tblproperties ('delta.enableChangeDataFeed' = 'true')"
    )
    told = f"{found.stg.name} is not the table whose changes were consumed up to version 1"
    assert told in found.read()[1]  # it has fewer versions
    for number in range(3):
        found.sql(f"insert into {{stg}} values ({number}, 'x')")
    assert told in found.read()[1]  # it has more
    assert found.read(full_refresh=True)[::2] == ("success", ["insert 0 x @3", "insert 1 x @3", "insert 2 x @3"])


@pytest.mark.slow
def test_bounds_come_from_the_changes_that_the_merge_reads(make_project, driver, spark):
    latest = """
        {{ config(partition_by=['p'], bounds=['p']) }}
        merge into {{ this }} as t
        using (SOURCE) as s on t.id = s.id and t.p = s.p
        when matched and s._change_type = 'delete' then delete
        when matched then update set v = s.v
        when not matched and s._change_type <> 'delete' then insert (id, p, v) values (s.id, s.p, s.v)
    """
    plain = "select * from {{ changes('stg') }} where _change_type <> 'update_preimage'"
    ranked = (
        "select * from (select *, row_number() over (partition by id order by _commit_version desc) as nth "
        f"from ({plain})) where nth = 1"
    )
    root = make_project(
        {
            "models/stg.sql": """
                merge into {{ this }} as t using (select id, id % 5 as p, 'a' as v from range(20)) as s on t.id = s.id
                when not matched then insert *
            """,
            "models/plain.sql": latest.replace("SOURCE", plain),
            "models/ranked.sql": latest.replace("SOURCE", ranked),
            "models/m.yml": "models:"
            + "".join(
                f"\n  - name: {name}\n    columns: [{{name: id, data_type: bigint}}, {{name: p, data_type: bigint}}, "
                "{name: v, data_type: string}]"
                for name in ("stg", "plain", "ranked")
            ),
        }
    )
    project = Project.load(root)
    assert project.build(driver=driver, lint=False).ok
    stg = project.graph.nodes["model.shop.stg"].relation
    spark.sql(f"update {stg} set v = 'b' where id = 3")
    spark.sql(f"delete from {stg} where id = 4")
    results = project.build(driver=driver, lint=False, select=["plain", "ranked"])
    assert results.ok, [each.message for each in results.results]
    for name in ("plain", "ranked"):
        response = results[name].adapter_response
        assert response["bounds"] == {"p": "2 values"}
        assert response["staged"] is (name == "ranked")
        assert response["files_scanned"] < response["files_total"]
        relation = project.graph.nodes[f"model.shop.{name}"].relation
        assert spark.table(str(relation)).exceptAll(spark.table(str(stg))).count() == 0
        assert spark.table(str(relation)).count() == 19
