"""Keywords of Spark SQL 4.1 by the role that they have in a MERGE (SqlBaseParser.g4)."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


NO_ALIAS = words("ANTI CROSS EXCEPT FULL INNER INTERSECT JOIN LATERAL LEFT MINUS NATURAL ON RIGHT SEMI UNION USING")
"""`strictNonReserved`: names, but no aliases of a table."""

JOINS = words("ANTI CROSS FULL INNER LEFT NATURAL RIGHT SEMI")
SET_OPERATORS = words("EXCEPT INTERSECT MINUS UNION")

AFTER_RELATION = words(
    "WHERE ON USING JOIN INNER LEFT RIGHT FULL CROSS SEMI ANTI NATURAL LATERAL GROUP ORDER SORT CLUSTER DISTRIBUTE "
    "HAVING UNION EXCEPT INTERSECT MINUS LIMIT OFFSET WINDOW AS PIVOT UNPIVOT TABLESAMPLE"
)
"""What may follow a table and its alias."""

PATTERNS = frozenset({"RLIKE", "REGEXP"})
LIKES = frozenset({"LIKE", "ILIKE"})
PREDICATES = PATTERNS | LIKES | {"BETWEEN", "IN"}
"""What may follow an infix NOT."""

OPERATORS = PREDICATES | {"AND", "OR", "IS", "DIV", "COLLATE"}
QUANTIFIERS = frozenset({"ANY", "SOME", "ALL"})
TRUTH = frozenset({"NULL", "TRUE", "FALSE", "UNKNOWN"})
"""What may follow IS [NOT]."""

WANT_OPERAND = OPERATORS - {"COLLATE"} | {"NOT", "CASE", "WHEN", "THEN", "ELSE"}
"""Words after which an operand begins."""

FIRST_OR_LAST = words("FIRST LAST ANY_VALUE")
"""Functions that take IGNORE NULLS inside their parentheses."""

SPECIAL_FORMS = words("EXTRACT TRIM SUBSTR SUBSTRING OVERLAY POSITION STRUCT IDENTIFIER TABLE")
"""Functions whose arguments are no plain list of expressions."""

AMBIGUOUS_NAMES = OPERATORS | words(
    "ALTER ANY AS CASE CREATE CROSS DISTINCT DROP ELSE EXCEPT FETCH FOR FROM GRANT HAVING IF INNER INSERT INTERSECT "
    "INTO JOIN LATERAL MINUS NOT ON OUTER REVOKE ROLLBACK SELECT SERDEPROPERTIES TABLESAMPLE THEN UNCACHE UNION USING "
    "VALUES WHEN WHERE WITH"
)
"""Keywords that Spark takes as a column and sqlglot 30.30 does not."""

MONTH_UNITS = words("MONTH MONTHS YEAR YEARS")
DAY_UNITS = words(
    "NANOSECOND NANOSECONDS MICROSECOND MICROSECONDS MILLISECOND MILLISECONDS SECOND SECONDS MINUTE MINUTES HOUR HOURS "
    "DAY DAYS WEEK WEEKS"
)
"""Units of an interval; the two kinds do not mix."""

TYPED_LITERALS = words("DATE TIMESTAMP TIMESTAMP_LTZ TIMESTAMP_NTZ TIME INTERVAL X")
"""What may precede a string literal."""

PLAIN_TYPES = words(
    "BOOLEAN TINYINT BYTE SMALLINT SHORT INT INTEGER BIGINT LONG FLOAT REAL DOUBLE DATE TIMESTAMP TIMESTAMP_NTZ "
    "TIMESTAMP_LTZ STRING BINARY VOID VARIANT"
)
"""Types that take no length."""

LENGTH_TYPES = frozenset({"CHAR", "CHARACTER", "VARCHAR"})
DECIMAL_TYPES = frozenset({"DECIMAL", "DEC", "NUMERIC"})
COMPLEX_TYPES = frozenset({"ARRAY", "MAP", "STRUCT"})
