"""The corpus against the engine: accept/ parses there, refuse/ and lenient/ do not."""

import pytest

from .corpus import entries, statement


@pytest.mark.spark
@pytest.mark.parametrize("one_in", [pytest.param(4, id="some"), pytest.param(1, id="all", marks=pytest.mark.slow)])
def test_spark_accepts_and_refuses_the_corpus_as_we_do(spark, caplog, one_in):
    caplog.set_level("CRITICAL", "SQLQueryContextLogger")  # it logs every refusal with its stack
    parser = spark._jsparkSession.sessionState().sqlParser()
    wrong = []
    for folder in ("accept", "refuse", "lenient"):
        for entry in list(entries(folder))[::one_in]:
            expected = folder == "accept" or entry.get("parses_in_spark", False)
            if _parses(parser, statement(entry)) is not expected:
                wrong.append((folder, entry["file"], statement(entry)))
    assert wrong == []


def _parses(parser, sql: str) -> bool:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        parser.parsePlan(sql)
    except (PySparkException, Py4JJavaError):
        return False
    return True
