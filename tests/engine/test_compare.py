"""Comparisons of real tables: against a reference in Python, and with and without the files that both sides share."""

import itertools
from decimal import Decimal
from random import Random

import pytest

from merge_runner.engine.compare import Criteria, compare_tables
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.table_format.protocol import TableVersion
from merge_runner.formats.lines import installed_line
from merge_runner.relation import Relation
from tests.comparison.reference import TYPES, expected, random_row

pytestmark = pytest.mark.spark
FORMATS = [name for name in ("delta", "iceberg") if name in installed_line().formats]
NUMBERS = itertools.count()
PAIRS = 10
"""Pairs of tables that lie in one pair, each with a number of its own: tables take long to write."""
COLUMNS = [name for name in TYPES if name != "k"]


@pytest.fixture
def session(driver):
    with driver.session() as session:
        yield session


@pytest.fixture(params=FORMATS)
def schema(request, session):
    """The name of a schema in a catalog of the format."""
    name = f"{'ice.' if request.param == 'iceberg' else ''}compared{next(NUMBERS)}"
    session.sql(f"create schema {name}")
    return name, request.param


def table(session, schema, name, columns, rows, properties=""):
    """Write a table of rows, and return it."""
    folder, format = schema
    catalog, _, namespace = folder.rpartition(".")
    relation = Relation(name, namespace, catalog or None)
    session.sql(f"create table {relation} ({columns}) using {format} {properties}")
    if rows:
        session.createDataFrame(rows, session.table(str(relation)).schema).createOrReplaceTempView("rows_to_write")
        session.sql(f"insert into {relation} select /*+ coalesce(1) */ * from rows_to_write")
    return relation


def found(outcome):
    rows = outcome.rows
    return rows.only_left, rows.only_right, rows.changed, dict(outcome.changed)


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 50))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_pairs_of_tables_differ_as_the_reference_says(session, schema, driver, seed):
    random = Random(seed)
    names = ["k", "name", *random.sample([name for name in COLUMNS if name != "name"], 4)]
    collated = schema[1] == "delta" and seed % 2 == 1 and installed_line().spark != "3.5"
    types = TYPES | ({"name": "string collate UTF8_LCASE"} if collated else {})
    pairs = {pair: ([], []) for pair in range(PAIRS)}
    for left, right in pairs.values():
        left.extend(random_row(random, names) for _ in range(random.choice([0, 1, 4, 8])))
        copied = [row for row in left if random.random() < 0.8]
        right.extend(row[:-1] + random_row(random, names[-1:]) if random.random() < 0.2 else row for row in copied)
        right.extend(random_row(random, names) for _ in range(random.choice([0, 0, 1, 2])))
        right.extend(random.sample(right, random.randint(0, min(2, len(right)))))
    columns = ", ".join(f"{name} {types[name]}" for name in names) + ", pair_number int"
    if collated:  # Delta outside of Databricks writes no collated column with this check
        session.conf.set("spark.databricks.delta.schema.typeCheck.enabled", "false")
    tables = []
    for side, name in enumerate(("one", "other")):
        rows = [(*row, pair) for pair, rows in pairs.items() for row in rows[side]]
        tables.append(TableVersion(table(session, schema, name, columns, rows)))
    fractional = [at for at, name in enumerate(names) if TYPES[name] in ("double", "float")]
    for pair, (left, right) in pairs.items():
        key = random.choice([(), ("k",), ("k", "name"), ("name",)])
        tolerance = random.choice([0.0, 0.001]) if key else 0.0
        limit = 5 if pair < 5 else 0  # each kind of examples is another query
        criteria = Criteria(key, f"pair_number = {pair} -- of many", limit, tolerance)
        outcome = compare_tables(session, *tables, driver.table_format(schema[1]), criteria)
        places = [names.index(name) for name in key]
        folded = [1] if collated else []
        only_left, only_right, changed, by_column = expected(left, right, places, folded, tolerance, fractional)
        by_name = {names[at]: count for at, count in by_column.items()}
        assert found(outcome) == (only_left, only_right, changed, by_name), (pair, key, tolerance)
        assert (outcome.rows.left, outcome.rows.right) == (len(left), len(right))
        assert len([example for example in outcome.examples if example.kind == "changed"]) == min(changed, limit)
        assert not outcome.columns.schema


HISTORY = {
    "delta": (
        "insert into {t} select id + 100, id % 4, 'new' from range(3)",
        "update {t} set v = 'changed' where p = 1",
        "delete from {t} where k = 7",
        "optimize {t}",
        "merge into {t} as t using (select 2L as k, 2L as p, 'merged' as v) as s on t.k = s.k and t.p = s.p "
        "when matched then update set * when not matched then insert *",
        "alter table {t} add columns (w int)",
        "update {t} set w = 1 where k = 3",
        "alter table {t} rename column v to u",
        "delete from {t} where p = 3",
    ),
    "iceberg": (
        "insert into {t} select id + 100, id % 4, 'new' from range(3)",
        "update {t} set v = 'changed' where p = 1",
        "delete from {t} where k = 7",
        "call ice.system.rewrite_data_files(table => '{n}', options => map('rewrite-all', 'true'))",
        "merge into {t} as t using (select 2L as k, 2L as p, 'merged' as v) as s on t.k = s.k and t.p = s.p "
        "when matched then update set * when not matched then insert *",
        "alter table {t} add columns (w int)",
        "update {t} set w = 1 where k = 3",
        "alter table {t} rename column v to u",
        "delete from {t} where p = 3",
    ),
}
LAYOUTS = {
    "copied files": {"delta": "'delta.columnMapping.mode' = 'name'", "iceberg": "'format-version' = '2'"},
    "deletion vectors": {
        "delta": "'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true'",
        "iceberg": "'format-version' = '3', 'write.delete.mode' = 'merge-on-read', "
        "'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read'",
    },
    "delete files": {
        "delta": "'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true'",
        "iceberg": "'format-version' = '2', 'write.delete.mode' = 'merge-on-read', "
        "'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read'",
    },
}


@pytest.mark.parametrize(
    "layout",
    ["deletion vectors", *(pytest.param(name, marks=pytest.mark.slow) for name in ("copied files", "delete files"))],
)
def test_files_that_are_not_read_change_no_result(session, schema, driver, layout):
    format = schema[1]
    if layout == "delete files" and format == "delta":
        pytest.skip("Delta has deletion vectors alone")
    properties = f"partitioned by (p) tblproperties ({LAYOUTS[layout][format]})"
    rows = [(number, number % 4, "x") for number in range(20)]
    relation = table(session, schema, "changed", "k bigint, p bigint, v string", rows, properties)
    asked = driver.table_format(format)
    versions, shared = [asked.state(session, relation).version], 0

    def compare(left, right):
        sides = TableVersion(relation, left), TableVersion(relation, right)
        some, whole = (compare_tables(session, *sides, what, Criteria(("k",), limit=0)) for what in (asked, None))
        assert (some.rows, some.changed, some.columns) == (whole.rows, whole.changed, whole.columns), (left, right)
        return some.files.shared if some.files is not None else 0

    for statement in HISTORY[format]:
        session.sql(statement.format(t=relation, n=f"{relation.schema}.{relation.identifier}"))
        versions.append(asked.state(session, relation).version)
        if versions[-1] != versions[-2]:
            shared += compare(versions[-2], None)
    compare(versions[0], None)
    compare(versions[1], versions[5])
    assert shared > 5
    same = compare_tables(
        session, TableVersion(relation, versions[-1]), TableVersion(relation), asked, Criteria(("k",))
    )
    assert (same.files.left, same.files.right) == (0, 0)


def test_one_changed_file_is_read_and_the_others_are_not(session, schema, driver):
    rows = [(number, number % 10, "x") for number in range(100)]
    relation = table(session, schema, "many", "k int, p int, v string", rows, "partitioned by (p)")
    asked = driver.table_format(schema[1])
    before = asked.state(session, relation).version
    session.sql(f"update {relation} set v = 'y' where p = 3 and k < 50")
    outcome = compare_tables(session, TableVersion(relation), TableVersion(relation, before), asked, Criteria(("k",)))
    assert (outcome.files.left, outcome.files.right, outcome.files.shared) == (1, 1, 9)
    assert found(outcome) == (0, 0, 5, {"v": 5})
    assert (outcome.rows.left, outcome.rows.right) == (100, 100)
    assert outcome.examples[0].key == {"k": 3}
    assert (outcome.examples[0].left, outcome.examples[0].right) == ({"v": "y"}, {"v": "x"})


def test_a_clone_shares_the_files_of_its_table(session, driver):
    session.sql("create schema if not exists compared_clones")
    relation = table(session, ("compared_clones", "delta"), "own", "k int, v string", [(1, "a"), (2, "b")])
    session.sql(f"insert into {relation} values (3, 'c')")
    clone = Relation("copy", "compared_clones")
    session.sql(f"create table {clone} shallow clone {relation}")
    asked = driver.table_format("delta")
    same = compare_tables(session, TableVersion(relation), TableVersion(clone), asked, Criteria(("k",)))
    assert (same.files.left, same.files.right, same.files.shared) == (0, 0, 2)
    assert found(same) == (0, 0, 0, {})
    session.sql(f"delete from {clone} where k = 3")
    other = compare_tables(session, TableVersion(relation), TableVersion(clone), asked, Criteria(("k",)))
    assert found(other) == (1, 0, 0, {})
    assert other.files.shared == 1


def test_columns_that_differ_are_reported_and_left_out(session, schema, driver):
    left = table(
        session, schema, "l", "k int, a int, b string, c decimal(10,2), gone int", [(1, 1, "x", Decimal(1), 1)]
    )
    right = table(
        session, schema, "r", "k bigint, A bigint, b int, c decimal(12,2), new int", [(1, 2, 7, Decimal(1), 1)]
    )
    sides, asked = (TableVersion(left), TableVersion(right)), driver.table_format(schema[1])
    outcome = compare_tables(session, *sides, asked, Criteria(("K",), excluded=("NEW",)))
    difference = outcome.columns.schema
    assert (difference.only_left, difference.only_right) == (("gone",), ())
    assert difference.types == {
        "k": ("int", "bigint"),
        "a": ("int", "bigint"),
        "b": ("string", "int"),
        "c": ("decimal(10,2)", "decimal(12,2)"),
    }
    assert found(outcome) == (0, 0, 1, {"a": 1})
    with pytest.raises(EngineError, match='the key column "b" is not in both tables'):
        compare_tables(session, *sides, asked, Criteria(("b",)))
    with pytest.raises(EngineError, match="a tolerance has no meaning"):
        compare_tables(session, *sides, asked, Criteria(tolerance=0.1))


def test_values_of_sensitive_columns_are_not_shown(session, schema, driver):
    left = table(
        session, schema, "l", "k int, mail string, n int", [(1, "ann@example.com", 1), (2, "b@example.com", 2)]
    )
    right = table(
        session, schema, "r", "k int, mail string, n int", [(1, "new@example.com", 1), (3, "c@example.com", 2)]
    )
    criteria = Criteria(("k",), sensitive=("Mail",))
    outcome = compare_tables(session, TableVersion(left), TableVersion(right), driver.table_format(schema[1]), criteria)
    assert found(outcome) == (1, 1, 1, {"mail": 1})
    assert "example.com" not in repr(outcome.examples)
    assert "(sensitive)" in repr(outcome.examples)
