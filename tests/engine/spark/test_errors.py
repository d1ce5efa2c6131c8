"""What engines raise, as one readable error; the texts are real ones of Spark 4.1.4 and Delta 4.4.0."""

from pathlib import Path

import pytest

from merge_runner.engine.spark.errors import EngineError, engine_error
from merge_runner.formats.failures import FAILURES, MOST_RETRIES, Kind
from tests.yaml_data import read_yaml


class FakeContext:
    def __init__(self, start, fragment):
        self._start, self._fragment = start, fragment

    def startIndex(self):  # noqa: N802  # PySpark's name
        return self._start

    def fragment(self):
        return self._fragment


class FakePySparkError(Exception):
    def __init__(self, text, condition, contexts=()):
        super().__init__(text)
        self._condition, self._contexts = condition, contexts

    def getCondition(self):  # noqa: N802
        return self._condition

    def getQueryContext(self):  # noqa: N802
        return list(self._contexts)


UNRESOLVED = (
    "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `nope` cannot be resolved. "
    "Did you mean one of the following? [`a`, `b`]. SQLSTATE: 42703; line 2 pos 2;\n'Project [a#1, 'nope]\n+- Relation"
)


def test_the_error_class_is_the_code_and_the_message_has_no_plan():
    error = engine_error(FakePySparkError(UNRESOLVED, "UNRESOLVED_COLUMN.WITH_SUGGESTION"))
    assert error.code == "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    assert (error.message, error.hint) == ("there is no column `nope`", "known are a, b")
    assert error.kind is Kind.USER


def test_the_place_in_the_statement_is_that_of_the_query_context():
    statement = "select a,\n  nope from t"
    error = engine_error(FakePySparkError(UNRESOLVED, "X", [FakeContext(12, "nope")]), statement)
    assert statement[error.offset :].startswith("nope")


def test_a_context_of_another_text_gives_no_place():
    error = engine_error(FakePySparkError("no place here", "X", [FakeContext(3, "nope")]), "select 1")
    assert error.offset is None


def test_a_syntax_error_has_its_place_from_line_and_position():
    text = "\n[PARSE_SYNTAX_ERROR] Syntax error at or near 'whn'. SQLSTATE: 42601 (line 3, pos 0)\n\n== SQL ==\nmerge"
    error = engine_error(FakePySparkError(text, "PARSE_SYNTAX_ERROR"), "merge into t\nusing s on a\nwhn matched")
    assert error.offset == 26
    assert error.message.startswith("Syntax error at or near 'whn'")


@pytest.mark.parametrize(
    "name",
    [
        "ConcurrentAppendException",
        "ConcurrentDeleteReadException",
        "ConcurrentDeleteDeleteException",
        "ConcurrentTransactionException",
        "ConcurrentWriteException",
        "MetadataChangedException",
        "ProtocolChangedException",
    ],
)
def test_each_conflict_of_delta_may_be_run_again(name):
    kind = type(name, (Exception,), {})
    assert engine_error(kind("[DELTA_CONCURRENT_APPEND] Files were added")).kind is Kind.CONFLICT


def test_a_cancelled_job_is_not_the_users_error():
    text = "org.apache.spark.SparkException: Job 7 cancelled part of cancelled job group i/model.p.m"
    assert engine_error(Exception(text)).kind is Kind.CANCELLED


STACK = "\n\nJVM stacktrace:\n{}\n\tat org.apache.spark.sql.delta.OptimisticTransaction.cancelled(OptimisticTransaction.scala:1)"


def test_a_server_far_away_tells_the_same_message_without_class_and_stack():
    text = UNRESOLVED + STACK.format("org.apache.spark.sql.catalyst.ExtendedAnalysisException")
    error = engine_error(FakePySparkError(text, "UNRESOLVED_COLUMN.WITH_SUGGESTION"))
    assert error.message == "there is no column `nope`"
    assert error.hint == "known are a, b"
    assert error.kind is Kind.USER


def test_an_interrupted_operation_of_a_server_was_cancelled_by_us():
    text = "(org.apache.spark.SparkSQLException) [OPERATION_CANCELED] Operation has been canceled. SQLSTATE: HY008"
    error = engine_error(
        FakePySparkError(text + STACK.format("org.apache.spark.SparkSQLException"), "OPERATION_CANCELED")
    )
    assert error.kind is Kind.CANCELLED
    assert error.message == "Operation has been canceled"


def test_a_conflict_on_a_server_may_be_run_again():
    text = "[DELTA_CONCURRENT_APPEND.WITHOUT_HINT] Transaction conflict detected. SQLSTATE: 2D521"
    throwable = "io.delta.exceptions.ConcurrentAppendException"
    for told in (text + STACK.format(throwable), f"({throwable}) {text}"):
        assert engine_error(FakePySparkError(told, "DELTA_CONCURRENT_APPEND.WITHOUT_HINT")).kind is Kind.CONFLICT


def test_an_engine_error_stays_what_it_is():
    error = EngineError("a", "b")
    assert engine_error(error) is error


def test_a_name_that_delta_cannot_resolve_has_its_place_and_the_nearest_column():
    text = (
        "[DELTA_MERGE_UNRESOLVED_EXPRESSION] Cannot resolve s.updatd_at in UPDATE condition given columns "
        "t.id, t.updated_at, s.id, s.updated_at."
    )
    statement = "merge into t using s on t.id = s.id\nwhen matched and s.updatd_at > t.updated_at then delete"
    error = engine_error(Exception(text), statement)
    assert error.code == "DELTA_MERGE_UNRESOLVED_EXPRESSION"
    assert error.message == "s.updatd_at cannot be resolved in UPDATE condition"
    assert error.hint == 'did you mean "s.updated_at"?'
    assert statement[error.offset :].startswith("s.updatd_at")


def test_the_columns_that_are_known_end_before_the_place():
    text = "[DELTA_MERGE_UNRESOLVED_EXPRESSION] Cannot resolve t.nope in search condition given columns t.id, s.v.; line 4 pos 57"
    assert engine_error(Exception(text)).hint == "known are s.v, t.id"


STARS = "merge into t using s as s on t.id = s.id\nwhen matched then update set *\nwhen not matched then insert *"


@pytest.mark.parametrize(
    "error",
    [
        FakePySparkError(
            "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `s`.`zed` cannot be "
            "resolved. Did you mean one of the following? [`id`, `v`]. SQLSTATE: 42703; line 1 pos 0;",
            "UNRESOLVED_COLUMN.WITH_SUGGESTION",
            [FakeContext(0, STARS)],
        ),
        FakePySparkError(
            "[DELTA_MERGE_UNRESOLVED_EXPRESSION] Cannot resolve zed in UPDATE clause given columns id, v. SQLSTATE: 42601; "
            "line 1 pos 0;",
            "DELTA_MERGE_UNRESOLVED_EXPRESSION",
        ),
    ],
)
def test_a_column_that_a_star_needs_is_named_at_the_star(error):
    found = engine_error(error, STARS)
    assert "zed" in found.message
    assert found.offset == STARS.index("*")
    assert "`*` needs every column of the target" in found.hint


@pytest.mark.parametrize("on", ["t.id = s.id and t.zed > 0", "t.id = s.id and s.zed > 0 /* of `t`.zed */"])
def test_a_column_that_a_star_needs_may_be_named_elsewhere(on):
    statement = f"with s as (select 1)\nmerge into t using s on {on} when matched then update set *"
    text = "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `zed` cannot be resolved"
    error = FakePySparkError(f"{text}; line 2 pos 0", "UNRESOLVED_COLUMN.WITH_SUGGESTION")
    assert engine_error(error, statement).offset == statement.index("*", statement.index("update"))


@pytest.mark.parametrize(
    ("text", "statement", "place"),
    [
        (
            "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `nope` cannot be "
            "resolved. Did you mean one of the following? [`a`, `b`, `id`]. SQLSTATE: 42703; line 1 pos 0",
            "merge into t using s on t.id = s.id when matched then update set * when not matched then insert (id, nope) values (s.id, 1)",
            "nope",
        ),
        (
            "[INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST] Cannot write incompatible data for the table ``: Cannot safely cast "
            '`st` "INT" to "STRUCT<X:INT,Y:STRUCT<Z:INT>>". SQLSTATE: KD000',
            "merge into t using s on t.id = s.id when matched then update set st = s.id",
            "st = s.id",
        ),
        (
            "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `nope` cannot be "
            "resolved; line 1 pos 0",
            "merge into t using s on nope = s.id and nope > 1 when matched then delete",
            "merge",
        ),
        (
            "[DELTA_MERGE_UNRESOLVED_EXPRESSION] Cannot resolve nope in UPDATE clause given columns t.id, t.a; line 1 pos 0",
            "merge into t using s on t.id = s.id when matched then update set nope = 1 when not matched then insert *",
            "nope",
        ),
    ],
)
def test_a_name_has_its_place_where_the_engine_gives_the_whole_merge(text, statement, place):
    error = engine_error(FakePySparkError(text, text[1:].partition("]")[0]), statement)
    assert statement[error.offset :].startswith(place)


def test_a_name_that_stands_twice_has_no_place():
    text = "[DELTA_MERGE_UNRESOLVED_EXPRESSION] Cannot resolve s.a in UPDATE condition given columns t.b."
    assert engine_error(Exception(text), "when s.a > 1 and s.a < 2").offset is None


class FakeThrowable:
    def __init__(self, texts):
        self._texts = texts

    def toString(self):  # noqa: N802
        return self._texts[0]

    def getCause(self):  # noqa: N802
        return FakeThrowable(self._texts[1:]) if len(self._texts) > 1 else None


class Py4JJavaError(Exception):
    def __init__(self, texts):
        super().__init__("An error occurred while calling o1.sql.")
        self.java_exception = FakeThrowable(texts)


CASES = read_yaml(Path(__file__).parent / "failures.yml")


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_what_engines_raise_is_understood(case):
    error = engine_error(Py4JJavaError(case["raised"]))
    assert (error.kind.value, error.code) == (case["kind"], case["code"])
    assert error.message == case["message"].strip()
    assert error.most_retries == case.get("retries", MOST_RETRIES[error.kind])
    assert case.get("hint", "") in (error.hint or "")


REWORDED = read_yaml(Path(__file__).parent / "rewordings.yml")


@pytest.mark.parametrize("case", REWORDED, ids=[case["name"] for case in REWORDED])
def test_a_mistake_of_the_user_is_told_without_the_engines_advice(case):
    condition = case["condition"]
    if condition.isupper():
        text = case["engine"] if condition.startswith("_") else f"[{condition}] {case['engine']}"
        error = engine_error(FakePySparkError(text, condition))
    else:  # a class of Java
        error = engine_error(Py4JJavaError([f"java.lang.{condition}: {case['engine']}"]))
    assert (error.kind, error.code) == (Kind.USER, case["condition"])
    assert error.message == case["message"]
    assert case["hint"] in str(error.hint) if "hint" in case else error.hint is None


def test_every_row_is_told_by_its_own_name_and_no_other_kind_takes_it():
    told = {case["raised"][0].split(":")[0].rpartition(".")[2] for case in CASES}
    for row in FAILURES:
        if not row.text:
            assert engine_error(type(row.error, (Exception,), {})("text")).kind is row.kind
        else:
            assert row.error in told


def test_what_the_author_raises_in_words_of_an_engine_is_the_authors():
    words = "ConcurrentAppendException: Job 7 cancelled, CommitStateUnknownException, Found conflicting files"
    text = f"org.apache.spark.SparkRuntimeException: [USER_RAISED_EXCEPTION] {words}"
    error = engine_error(Py4JJavaError([text]))
    assert (error.kind, error.code, error.message) == (Kind.USER, "USER_RAISED_EXCEPTION", words)


def test_a_commit_of_unknown_fate_is_no_conflict_whatever_caused_it():
    error = engine_error(
        Py4JJavaError(
            [
                "org.apache.iceberg.exceptions.CommitStateUnknownException: Cannot determine whether the commit was successful",
                "org.apache.iceberg.exceptions.CommitFailedException: Cannot commit",
            ]
        )
    )
    assert error.kind is Kind.COMMIT_UNKNOWN
