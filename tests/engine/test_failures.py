"""What engines raise, as one readable error; the texts are real ones of Spark 4.1.4 and Delta 4.4.0."""

import pytest

from merge_runner.engine.failures import EngineError, Kind, engine_error


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
    assert error.message == (
        "A column, variable, or function parameter with name `nope` cannot be resolved. "
        "Did you mean one of the following? [`a`, `b`]"
    )
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


def test_an_engine_error_stays_what_it_is():
    error = EngineError("a", "b")
    assert engine_error(error) is error
