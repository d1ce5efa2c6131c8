"""The corpus against the parser of each line: accept/ parses there, refuse/ and lenient/ do not."""

import pytest

from merge_runner.formats.grammar import Form
from merge_runner.formats.lines import installed_line, line_of

from .corpus import entries, statement

_PARSER_OF_CORPUS = Form("", "4.1", "")


@pytest.fixture
def session(request):
    """The driver's session; on a line for which no format has a build, so that no driver starts, one of plain Spark."""
    if installed_line().formats:
        yield request.getfixturevalue("spark")
        return
    from pyspark.sql import SparkSession

    plain = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    yield plain
    plain.stop()


@pytest.mark.spark
@pytest.mark.lines
@pytest.mark.parametrize("one_in", [pytest.param(4, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)])
def test_spark_accepts_and_refuses_the_corpus_as_we_do(session, caplog, one_in):
    caplog.set_level("CRITICAL", "SQLQueryContextLogger")  # it logs every refusal with its stack
    parser = session._jsparkSession.sessionState().sqlParser()
    line = line_of(session.version)
    if not _PARSER_OF_CORPUS.parses_on(line):
        pytest.skip(f"the corpus is that of Spark {_PARSER_OF_CORPUS.since} and newer")
    wrong = []
    for folder in ("accept", "refuse", "lenient"):
        for entry in list(entries(folder))[::one_in]:
            expected = _parses_by_data(folder, entry, line)
            if _parses(parser, statement(entry)) is not expected:
                wrong.append((folder, entry["file"], statement(entry)))
    assert wrong == []


def _parses_by_data(folder, entry, line) -> bool:
    """Whether an entry parses on a line: `since` is the first line that takes it, `until` the first that does not."""
    since = entry.get("since")
    if since is None:
        since = "3.5" if folder == "accept" or entry.get("parses_in_spark", False) else "99.0"
    until = Form("", entry.get("until", "99.0"), "")
    return Form("", since, "").parses_on(line) and not until.parses_on(line)


def _parses(parser, sql: str) -> bool:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        parser.parsePlan(sql)
    except (PySparkException, Py4JJavaError):
        return False
    return True
