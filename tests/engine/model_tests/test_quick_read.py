"""The Kernel's rows of a Delta table are those of Delta's usual reader, and nothing is called wrong by it alone."""

from pathlib import Path

import pytest

from merge_runner.engine.model_tests.quick_read import first_found
from merge_runner.engine.spark.errors import EngineError
from merge_runner.engine.spark.sql import run_statement
from merge_runner.engine.table_format.delta.delta_format import BY_KERNEL
from tests.yaml_data import read_yaml

TABLES = read_yaml(Path(__file__).parent / "quick_read.yml")
OFTEN = {"partitions, odd values and NULL", "rows that are all gone"}
"""What `make test` reads; `make test-slow` reads the other tables."""
CONF = "spark.databricks.delta.v2.enableMode"


@pytest.fixture
def session(spark):
    return spark.newSession()


@pytest.mark.spark
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in OFTEN else pytest.mark.slow) for name in TABLES]
)
def test_both_readers_give_the_same_rows(session, name):
    table = f"quick_read.kernel_{list(TABLES).index(name)}"
    session.sql("create schema if not exists quick_read")
    for statement in TABLES[name]:
        session.sql(statement.replace("{t}", table))
    read = []

    def find():
        frame = session.table(table)
        read.append(
            (frame.schema, frame._jdf.queryExecution().executedPlan().toString(), sorted(map(repr, frame.collect())))
        )
        return "wrong"

    assert first_found(session, BY_KERNEL, find) == "wrong"
    (schema, plan, rows), (usual_schema, usual_plan, usual_rows) = read
    assert "BatchScan" in plan
    assert "BatchScan" not in usual_plan
    assert rows == usual_rows
    assert schema.simpleString() == usual_schema.simpleString()


@pytest.mark.spark
def test_the_session_is_as_before(session):
    session.conf.set(CONF, "NONE")
    assert first_found(session, BY_KERNEL, lambda: run_statement(session, f"set {CONF}")[0]["value"]) == "NONE"
    assert session.conf.get(CONF) == "NONE"


class _Confs(dict):
    set = dict.__setitem__

    def unset(self, key):
        del self[key]


class _Session:
    def __init__(self):
        self.conf = _Confs()


def _finder(session, by_kernel, usual):
    """Finds one thing while the Kernel reads, another in the usual way; an error is raised."""

    def find():
        found = by_kernel if session.conf == BY_KERNEL else usual
        if isinstance(found, EngineError):
            raise found
        return found

    return find


ERROR = EngineError("CODE", "a table feature that it does not know")


@pytest.mark.parametrize(
    ("by_kernel", "usual", "found"),
    [
        (None, "never asked", None),
        ("wrong", None, None),
        ("wrong", "less", "less"),
        (ERROR, None, None),
        (ERROR, "less", "less"),
    ],
)
def test_only_the_usual_reader_calls_anything_wrong(by_kernel, usual, found):
    session = _Session()
    assert first_found(session, BY_KERNEL, _finder(session, by_kernel, usual)) == found
    assert session.conf == {}


def test_an_error_of_the_usual_reader_is_raised():
    session = _Session()
    with pytest.raises(EngineError):
        first_found(session, BY_KERNEL, _finder(session, ERROR, ERROR))
    assert session.conf == {}


def test_a_format_without_a_faster_reader_is_read_once():
    read = []
    assert first_found(_Session(), {}, lambda: read.append("read") or "wrong") == "wrong"
    assert read == ["read"]
