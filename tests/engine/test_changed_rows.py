"""The rows that differ between two versions of a Delta table: read from the files that differ as from the versions."""

from dataclasses import replace
from random import Random

import pytest

from merge_runner.engine.merge.changed_rows import changed_rows
from merge_runner.engine.table_format.delta.stored_version import changed_files, stored_versions

pytestmark = pytest.mark.spark

COLUMNS = """id bigint, n int, `odd-n´ame` double, at timestamp, day date, note string, amount decimal(10, 2),
    raw binary, local timestamp_ntz, tags array<string>"""
ROWS = """select id, cast(id as int), id / 3.0, timestamp'1969-12-31 23:59:59.123456' + make_interval(0, id),
    date_add(date'1600-02-29', cast(id % 3 as int)), if(id % 5 = 0, null, concat('é:{{[%/', id % 2)),
    cast(id as decimal(10, 2)), x'00FF', timestamp_ntz'2024-01-01 00:00:00', array('a') from range({start}, {end})"""
EDITS = [
    "insert into {table} " + ROWS,
    "update {table} set n = n + 1 where id % 7 = 2",
    "update {table} set note = null, day = null where id % 11 = 3",
    "update {table} set day = date'2024-02-29', note = '' where id % 11 = 4",
    "update {table} set `odd-n´ame` = -0.0D where id % 5 = 1",
    "delete from {table} where id % 9 = 1",
    "optimize {table}",
    "restore table {table} to version as of 1",
    "insert into {table} (id, day) values (-1, null), (-1, null)",
]
VECTORS, WIDENING = "'delta.enableDeletionVectors' = 'true'", "'delta.enableTypeWidening' = 'true'"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("partitioned", "properties", "least"),
    [
        ("note", "", 2),
        *(
            pytest.param(columns, properties, least, marks=pytest.mark.nightly)
            for columns in ("", "day", "note, day", "amount", "at")
            for properties, least in (("", 2), (VECTORS, 0), (WIDENING, 0))
        ),
    ],
)
def test_files_have_the_rows_that_versions_differ_in(spark, tmp_path, partitioned, properties, least):
    random, folder = Random(f"{partitioned} {properties}"), tmp_path / "a folder"
    table, by_files = f"delta.`{folder}`", 0
    partitions = f"partitioned by ({partitioned})" if partitioned else ""
    given = f"tblproperties ({properties})" if properties else ""
    spark.sql(f"create table {table} ({COLUMNS}) using delta {partitions} {given}")
    spark.sql(f"insert into {table} {ROWS.format(start=0, end=40)}")
    if "Widening" in properties:
        spark.sql(f"alter table {table} alter column n type bigint")
    since = identity(folder)
    for number in range(3):
        for edit in random.sample(EDITS, k=random.choice([1, 1, 2, 3])):
            spark.sql(edit.format(table=table, start=number * 10, end=number * 10 + 12))
        found = changed_files(folder, since, identity(folder))
        if isinstance(found, str):  # another type
            since = identity(folder)
            continue
        expected = changed_rows(spark, str(folder), replace(found, files=None))
        assert counted(changed_rows(spark, str(folder), found)) == counted(expected)
        by_files += found.files is not None
        since = identity(folder)
    assert by_files >= least
    assert not [view.name for view in spark.catalog.listTables() if view.name.startswith("merge_runner_files")]


def identity(folder):
    """The newest commit that may have changed rows."""
    return next(stored_versions(folder)).identity


def counted(rows):
    return rows if isinstance(rows, str) else (rows.types, rows.columns, sorted(rows.rows, key=str))


def test_a_path_that_is_a_pattern_to_spark_is_read_by_versions(spark, tmp_path):
    folder = tmp_path / "a[b]{c}"
    spark.sql(f"create table delta.`{folder}` using delta as select 1 as id")
    since = identity(folder)
    spark.sql(f"insert into delta.`{folder}` values (2)")
    found = changed_files(folder, since, identity(folder))
    assert changed_rows(spark, str(folder), found).rows == ((("2",), 1),)


def test_the_log_of_an_earlier_version_is_not_read(spark, tmp_path):
    folder = tmp_path / "t"
    spark.sql(
        f"create table delta.`{folder}` using delta partitioned by (day) as select 1 as id, date'2024-01-01' as day"
    )
    since = identity(folder)
    spark.sql(f"update delta.`{folder}` set id = 2")
    found = changed_files(folder, since, identity(folder))
    (folder / "_delta_log" / f"{0:020}.json").write_text("")
    assert sorted(changed_rows(spark, str(folder), found).rows) == [(("1", "2024-01-01"), -1), (("2", "2024-01-01"), 1)]
