"""sqlglot's Databricks dialect, with the words of open-source Spark 4.1 where the two differ.

Databricks is the better reader of Spark's text than sqlglot's Spark dialect: it knows paths into variants (`v:a.b`) and
reads a plain cast as a plain cast. Only the tokenizer can be adapted: sqlglot's parsers are compiled and closed.
"""

from __future__ import annotations

from sqlglot.dialects.databricks import Databricks
from sqlglot.tokenizer_core import TokenType


class SparkMerge(Databricks):
    """Reads the expressions and queries inside a MERGE. It is not meant for printing."""

    class Tokenizer(Databricks.Tokenizer):
        KEYWORDS = {  # noqa: RUF012 - sqlglot's own way to declare a dialect
            **Databricks.Tokenizer.KEYWORDS,
            # sqlglot makes TIME a timestamp; Spark 4.1 has the type.
            "TIME": TokenType.TIME,
        }
