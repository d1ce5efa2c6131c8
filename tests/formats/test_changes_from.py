"""What Delta answers to CHANGES FROM and `table_changes`, by table property and conf, on the lines that parse CHANGES."""

import pytest

from merge_runner.formats.delta.capabilities import DELTA
from merge_runner.formats.grammar import CHANGES
from merge_runner.formats.lines import installed_line

pytestmark = [
    pytest.mark.spark,
    pytest.mark.lines,
    pytest.mark.skipif(not CHANGES.parses_on(installed_line()), reason="the line has no CHANGES FROM"),
]

FEED, TRACKED = "delta.enableChangeDataFeed", "delta.enableRowTracking"
UPDATED = [("b", "update_preimage"), ("x", "update_postimage")]
REPLACED = [("b", "delete"), ("x", "insert")]
FUNCTION, CLAUSE = "table_changes('{t}', 2, 2)", "{t} changes from version 2 to version 2"


@pytest.fixture(scope="module")
def tables(spark):
    names = {key: f"changed_{key.rpartition('.')[2]}" for key in ("delta.none", FEED, TRACKED)}
    for key, name in names.items():
        properties = f"tblproperties ('{key}' = 'true')" if key in (FEED, TRACKED) else ""
        spark.sql(f"create table {name} (id bigint, v string) using delta {properties}")
        spark.sql(f"insert into {name} values (1, 'a'), (2, 'b')")
        spark.sql(f"update {name} set v = 'x' where id = 2")
    return names


@pytest.mark.parametrize(
    ("key", "conf", "relation", "answer"),
    [
        ("delta.none", "false", FUNCTION, "DELTA_MISSING_CHANGE_DATA"),
        (TRACKED, "false", FUNCTION, "DELTA_MISSING_CHANGE_DATA"),
        (TRACKED, "true", FUNCTION, "DELTA_MISSING_CHANGE_DATA"),
        (FEED, "false", FUNCTION, UPDATED),
        (FEED, "true", FUNCTION, UPDATED),
        ("delta.none", "false", CLAUSE, "UNSUPPORTED_FEATURE.CHANGE_DATA_CAPTURE"),
        (FEED, "false", CLAUSE, "UNSUPPORTED_FEATURE.CHANGE_DATA_CAPTURE"),
        ("delta.none", "true", CLAUSE, "DELTA_CHANGELOG_REQUIRES_ROW_TRACKING"),
        (FEED, "true", CLAUSE, "DELTA_CHANGELOG_REQUIRES_ROW_TRACKING"),
        (TRACKED, "true", CLAUSE, REPLACED),
        (TRACKED, "true", CLAUSE + " with (computeUpdates = true)", UPDATED),
    ],
)
def test_what_delta_answers(spark, tables, key, conf, relation, answer):
    from pyspark.errors import PySparkException

    session = spark.newSession()
    session.conf.set(DELTA.changes_conf, conf)
    query = f"select v, _change_type from {relation.format(t=tables[key])} order by _change_type"
    if isinstance(answer, str):
        with pytest.raises(PySparkException) as caught:
            session.sql(query).collect()
        assert caught.value.getCondition() == answer
    else:
        assert sorted(map(tuple, session.sql(query).collect())) == sorted(answer)


def test_the_changes_have_more_columns_than_those_of_the_table_and_of_the_change(spark, tables):
    session = spark.newSession()
    session.conf.set(DELTA.changes_conf, "true")
    columns = session.sql(f"select * from {CLAUSE.format(t=tables[TRACKED])}").columns
    assert columns == ["id", "v", "_metadata", "_change_type", "_commit_version", "_commit_timestamp"]
