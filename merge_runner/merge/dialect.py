"""sqlglot's Databricks dialect, with the words of open-source Spark where the two differ.

Databricks is the better reader of Spark's text than sqlglot's Spark dialect: it knows paths into variants (`v:a.b`) and
reads a plain cast as a plain cast. Only the tokenizer can be adapted: sqlglot's parsers are compiled and closed.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sqlglot.dialects.databricks import Databricks
from sqlglot.tokenizer_core import TokenType

_NAMES_IN_SPARK = """
    ALTER APPLY ASOF AUTOINCREMENT AUTO_INCREMENT CALL COPY CREATE DESCRIBE DROP EXECUTE EXPLAIN FETCH FILE GLOB GRANT
    INSERT INTO ISNULL KEEP KILL LOCK MATCH_RECOGNIZE NOTNULL OPERATOR OPTIMIZE ORDINALITY OVERLAPS PARTITIONED_BY
    PRAGMA PREPARE PROCEDURE QUALIFY RENAME RETURNING REVOKE ROLLBACK SEQUENCE SERDEPROPERTIES SESSION SETTINGS SHOW
    STRAIGHT_JOIN STREAM TRIGGER UNCACHE VACUUM VOLATILE XOR
"""
"""Keywords of sqlglot 30.30 that are plain names in Spark, wherever a query has them; QUALIFY may also be a clause."""

_NAMES = frozenset(_NAMES_IN_SPARK.split())


class SparkMerge(Databricks):
    """Reads the expressions and queries inside a MERGE. It is not meant for printing."""

    class Tokenizer(Databricks.Tokenizer):
        KEYWORDS = {  # noqa: RUF012 - sqlglot's own way to declare a dialect
            **{word: kind for word, kind in Databricks.Tokenizer.KEYWORDS.items() if word not in _NAMES},
            # sqlglot makes TIME a timestamp; Spark 4.1 has the type.
            "TIME": TokenType.TIME,
        }


class _Quiet(logging.Filter):
    """Drops what sqlglot logs in a thread that is reading: it warns of text that it takes for a foreign command."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        return not getattr(self.reading, "on", False)


_QUIET = _Quiet()
logging.getLogger("sqlglot").addFilter(_QUIET)


@contextmanager
def quiet() -> Iterator[None]:
    """Inside, sqlglot logs nothing in this thread."""
    _QUIET.reading.on = True
    try:
        yield
    finally:
        _QUIET.reading.on = False
