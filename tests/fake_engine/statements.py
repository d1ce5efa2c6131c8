"""The statements that a session understands, by how they begin: those that the product sends, and common hooks."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fake_engine.lake import CREATE, MERGE, REPLACE, REPLACE_AS, Table, columns_of, dotted

if TYPE_CHECKING:
    from tests.fake_engine.session import FakeSession, Frame

_NAME = r"(?P<name>(?:`[^`]+`|[\w]+)(?:\.(?:`[^`]+`|[\w]+))*)"
_QUOTED = r"'((?:[^'\\]|\\.)*)'"
_CLAUSES = {
    "format": r"\AUSING (\w+)",
    "partition_by": r"PARTITIONED BY \((.*?)\)(?= [A-Z]|\s*\Z)",
    "cluster_by": r"CLUSTER BY \((.*?)\)(?= [A-Z]|\s*\Z)",
    "location": rf"LOCATION {_QUOTED}",
    "comment": rf"COMMENT {_QUOTED}(?= TBLPROPERTIES|\s*\Z)",
    "properties": r"TBLPROPERTIES \((.*)\)\s*\Z",
}


class UnknownStatementError(BaseException):
    """A statement that the fake engine does not understand: the test needs a real engine, or an answer.

    The product must not take it for an error of an engine, so that it is no Exception.
    """

    def __init__(self, text: str) -> None:
        super().__init__(f"the fake engine does not understand: {text}")


@dataclass(frozen=True)
class Statement:
    """A statement that is understood: the `place` of its faults, the table it writes, and what runs it."""

    text: str
    run: Callable[[], Frame]
    place: str | None = None
    table: Table | None = None


def understood(text: str, session: FakeSession) -> Statement:
    """Return what a statement does. Raises UnknownStatementError."""
    body = re.sub(r"\A(?:\s+|--[^\n]*\n|/\*.*?\*/)*", "", text, flags=re.DOTALL)
    beginning = next((key for key in session.driver.answers if body.casefold().startswith(key.casefold())), None)
    if beginning is not None:
        answer = session.driver.answers[beginning]
        return Statement(text, lambda: _frame(answer))
    for pattern, make in _FORMS:
        if (match := pattern.match(body)) is not None:
            return make(text, match, session)
    raise UnknownStatementError(text)


def _second_run(text: str, _match: re.Match[str], _session: FakeSession) -> Statement:
    """Say that another run of a MERGE changes a row, as it does here."""
    return Statement(text, lambda: _frame([{"changes": 1}]))


def _frame(answer: Any = ()) -> Frame:
    from tests.fake_engine.session import Frame, Row

    if isinstance(answer, Mapping):
        return Frame((), answer)
    return Frame([Row(item) for item in answer])


def _schema(text: str, _match: re.Match[str], _session: FakeSession) -> Statement:
    return Statement(text, _frame)


def _create(text: str, match: re.Match[str], session: FakeSession) -> Statement:
    """CREATE TABLE IF NOT EXISTS, or CREATE OR REPLACE TABLE, with columns or in the place of a table that is there."""
    driver, name = session.driver, dotted(match["name"])
    clauses = _clauses(match["clauses"])

    def run() -> Frame:
        table = driver.lake.tables.get(name)
        if table is None or match["replace"]:
            made = Table(name, columns_of(match["columns"] or ""), clauses, _folder(clauses))
            if table is not None:
                made.commits = table.commits
                made.batches = table.batches if made.keeps_batches else {}
            driver.lake.tables[name] = made
            driver.lake.commit(made, REPLACE if match["replace"] else CREATE, _stamp(session), 0)
        driver.known.add(name)
        return _frame()

    return Statement(text, run, f"create {name.rpartition('.')[2]}", driver.lake.tables.get(name))


def _replace_as(text: str, match: re.Match[str], session: FakeSession) -> Statement:
    driver, name = session.driver, dotted(match["name"])
    clauses = _clauses(match["clauses"])

    def run() -> Frame:
        table = driver.lake.tables.get(name)
        if table is None:
            table = driver.lake.tables[name] = Table(name, {}, clauses, _folder(clauses))
        table.clauses = clauses
        driver.lake.commit(table, REPLACE_AS, _stamp(session), driver.counts(table.short).get("inserted", 1))
        driver.known.add(name)
        return _frame()

    return Statement(text, run, name.rpartition(".")[2], driver.lake.tables.get(name))


def _view(text: str, match: re.Match[str], session: FakeSession) -> Statement:
    name = dotted(match["name"])

    def run() -> Frame:
        session.driver.known.add(name)
        return _frame()

    return Statement(text, run, name.rpartition(".")[2])


def _merge(text: str, match: re.Match[str], session: FakeSession) -> Statement:
    """A MERGE that inserts a row into an empty table and updates one of any other, or as the test says.

    It says so by `counts`, or by a function of `merges`.
    """
    driver, table = session.driver, session.found(match["name"])

    def run() -> Frame:
        with driver.lake.merging:
            return merge()

    def merge() -> Frame:
        batch = _batch(session)
        if _has_committed(session, table, batch):
            return _frame()  # Delta skips such a statement, and reports nothing
        counts = driver.counts(table.short) or {("updated" if table.rows else "inserted"): 1}
        if (function := driver.merges.get(table.short)) is not None:
            table.contents, counts = function(text, table.contents)
        changed = {kind: counts.get(kind, 0) for kind in ("updated", "deleted", "inserted")}
        driver.lake.commit(
            table,
            MERGE,
            _stamp(session),
            table.rows + counts.get("inserted", 0) - counts.get("deleted", 0),
            batch,
            changed,
        )
        kinds = {f"num_{kind}_rows": count for kind, count in changed.items()}
        return _frame([{"num_affected_rows": sum(kinds.values()), **kinds}])

    return Statement(text, run, table.short, table)


def _batch(session: FakeSession) -> tuple[str, int] | None:
    """The application and the number that the session's commits carry."""
    app = session.conf.get("spark.databricks.delta.write.txnAppId")
    number = session.conf.get("spark.databricks.delta.write.txnVersion")
    return None if app is None or number is None else (app, int(number))


def _has_committed(session: FakeSession, table: Table, batch: tuple[str, int] | None) -> bool:
    """Whether the table refuses a batch, as it has committed it or a later one."""
    recorded = session.driver.lake.recorded(table, batch[0]) if batch is not None else None
    return table.keeps_batches and batch is not None and recorded is not None and recorded >= batch[1]


def _alter(text: str, match: re.Match[str], session: FakeSession) -> Statement:
    table = session.found(match["name"])
    operation = "SET TBLPROPERTIES" if "TBLPROPERTIES" in text.upper() else "CHANGE COLUMN"
    added = re.search(r"ADD COLUMNS? \((.*)\)", text, re.IGNORECASE)

    def run() -> Frame:
        table.columns = {**table.columns, **columns_of(added[1] if added is not None else "")}
        session.driver.lake.commit(table, operation, _stamp(session))
        return _frame()

    return Statement(text, run, table=table)


def _write(text: str, match: re.Match[str], session: FakeSession) -> Statement:
    """INSERT, DELETE and UPDATE: a commit; a DELETE takes out all rows, an INSERT adds one.

    Where the test has a function of `merges`, that says which rows a DELETE leaves.
    """
    driver, table, verb = session.driver, session.found(match["name"]), match["verb"].upper()
    rows = {"INSERT INTO": table.rows + 1, "DELETE FROM": 0}.get(verb)
    function = driver.merges.get(table.short) if verb == "DELETE FROM" else None

    def run() -> Frame:
        batch = _batch(session)
        with driver.lake.merging:
            if _has_committed(session, table, batch):
                return _frame()
            if function is not None:
                table.contents, _ = function(text, table.contents)
            operation = {"INSERT INTO": "WRITE"}.get(verb, verb.split()[0])
            driver.lake.commit(table, operation, _stamp(session), rows, batch)
            return _frame()

    return Statement(text, run, table=table)


def _overwrite(text: str, match: re.Match[str], session: FakeSession) -> Statement:
    """INSERT OVERWRITE of a branch: one row, or what the test's `counts` say, or none."""
    driver, table = session.driver, session.found(match["name"])

    def run() -> Frame:
        rows = 0 if match["query"].endswith("WHERE false") else driver.counts(table.short).get("inserted", 1)
        driver.lake.commit(table, "INSERT OVERWRITE", _stamp(session), rows)
        return _frame()

    return Statement(text, run, table.short, table)


def _rows_as_of(text: str, match: re.Match[str], session: FakeSession) -> Statement:
    """Count the rows of a table as of a version: those that it has now."""
    table = session.found(match["name"])
    return Statement(text, lambda: _frame([{"count": table.rows}]))


def _optimize(text: str, match: re.Match[str], session: FakeSession) -> Statement:
    table = session.found(match["name"])

    def run() -> Frame:
        return _frame([{"version": session.driver.lake.commit(table, "OPTIMIZE", _stamp(session)).version}])

    return Statement(text, run, f"optimize {table.short}", table)


def _holds_rows(text: str, match: re.Match[str], session: FakeSession) -> Statement:
    table = session.found(match["name"])
    return Statement(text, lambda: _frame([{"1": 1}] if table.rows else []))


def _data_test(text: str, _match: re.Match[str], session: FakeSession) -> Statement:
    """The query of a data test: no row fails, or as many as the test's `failures` say of a piece of its text."""
    number = next((count for piece, count in session.driver.failures.items() if piece in text), 0)
    found = [{"failures": number, "errs": number != 0, "warns": number != 0, "found": ()}]
    return Statement(text, lambda: _frame(found))


def _columns(text: str, match: re.Match[str], session: FakeSession) -> Statement:
    """Ask for the columns of a table."""
    table = session.found(match["name"])
    return Statement(text, lambda: _frame(table.columns))


def _types(text: str, match: re.Match[str], _session: FakeSession) -> Statement:
    """Ask what Spark makes of data types."""
    types = re.findall(r"CAST\(NULL AS (.*?)\)(?=,|\s|\Z)", match[0])
    return Statement(text, lambda: _frame({f"c{number}": name for number, name in enumerate(types)}))


def _history(text: str, match: re.Match[str], session: FakeSession) -> Statement:
    table = session.found(match["name"])
    found = [
        {"version": one.version, "operation": one.operation, "userMetadata": one.stamp} for one in table.commits[::-1]
    ]
    return Statement(text, lambda: _frame(found[: int(match["limit"] or len(found))]))


def _properties(text: str, match: re.Match[str], session: FakeSession) -> Statement:
    found = [{"key": key, "value": value} for key, value in properties(session.found(match["name"])).items()]
    return Statement(text, lambda: _frame(found))


def _plan(text: str, _match: re.Match[str], _session: FakeSession) -> Statement:
    return Statement(text, lambda: _frame([{"plan": "== Physical Plan ==\nLocalTableScan <empty>, []\n"}]))


_FORMS: tuple[tuple[re.Pattern[str], Callable[[str, re.Match[str], FakeSession], Statement]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), make)
    for pattern, make in (
        (r"CREATE SCHEMA IF NOT EXISTS ", _schema),
        (rf"CREATE OR REPLACE TABLE {_NAME} (?P<clauses>USING [^\n]*) AS\n", _replace_as),
        (
            rf"CREATE (?:(?P<replace>OR REPLACE) )?TABLE (?:IF NOT EXISTS )?{_NAME} (?:\((?P<columns>.*?)\) )?"
            r"(?P<clauses>USING .*)",
            _create,
        ),
        (rf"CREATE OR REPLACE VIEW {_NAME} AS\n", _view),
        (rf"(?:WITH \w+ AS \(.*\)\s+)?MERGE (?:WITH SCHEMA EVOLUTION )?INTO {_NAME}", _merge),
        (r"(?:WITH \w+ AS \(.*\)\s+)?SELECT 1 AS changes FROM", _second_run),
        (rf"OPTIMIZE {_NAME}", _optimize),
        (rf"ALTER TABLE {_NAME}", _alter),
        (rf"COMMENT ON TABLE {_NAME}", _alter),
        (rf"INSERT OVERWRITE {_NAME} BY NAME\n(?P<query>.*)", _overwrite),
        (rf"SELECT count\(\*\) FROM {_NAME} VERSION AS OF \d+", _rows_as_of),
        (rf"(?P<verb>INSERT INTO|DELETE FROM|UPDATE) {_NAME}", _write),
        (rf"SELECT 1 FROM {_NAME} LIMIT 1", _holds_rows),
        (r"SELECT .* AS failures, ", _data_test),
        (r"SELECT (?:CAST\(NULL AS [^)]*(?:\([^)]*\))?\)(?:, )?)+\s*\Z", _types),
        (rf"SELECT \* FROM {_NAME}\s*\Z", _columns),
        (rf"DESCRIBE HISTORY {_NAME}(?: LIMIT (?P<limit>\d+))?", _history),
        (rf"SHOW TBLPROPERTIES {_NAME}", _properties),
        (r"EXPLAIN ", _plan),
    )
)


def _stamp(session: FakeSession) -> str | None:
    return session.conf.get(session.driver.table_format(None).capabilities.commit_metadata_conf)


def _clauses(text: str) -> dict[str, str]:
    found = {key: re.search(pattern, text, re.DOTALL) for key, pattern in _CLAUSES.items()}
    return {key: match[1] for key, match in found.items() if match is not None}


def _folder(clauses: Mapping[str, str]) -> Path | None:
    return Path(clauses["location"]) if "location" in clauses else None


def properties(table: Table) -> dict[str, str]:
    """Return the properties of a table."""
    return dict(re.findall(rf"{_QUOTED} = {_QUOTED}", table.clauses.get("properties", "")))
