"""What goes wrong, as data: a list of words for each place, one word for each time that the place is reached.

    {"orders": ["conflict", None, "lost after"], "commits of orders": ["fails"], "session 2": ["lost"]}

A place is
    NAME             the statement that writes the model NAME: its MERGE, CREATE … AS SELECT or view
    optimize NAME    its compaction
    create NAME      CREATE TABLE of an empty table, also in the place of one that exists
    commits of NAME  each time that the commits of the table are read
    layout of NAME   each time that anything else is read of its log
    publish NAME     main of the table is moved to its branch
    drop NAME        a branch of the table is dropped
    session N        the N-th session that the driver opens, from 1
    TEXT             any other statement that begins with it (hooks, queries, ALTER TABLE)

A word is
    conflict         another writer commits first: the table has its commit, and not that of the statement
    protocol         another writer has changed the protocol of the table first
    transient        the statement fails by what carries it
    unknown          whether it has committed is not known
    broken           the connection breaks, and the driver goes on
    lost             the driver is killed
    fails            the statement itself is wrong
    unread           the engine leaves a part of the source unread in its plan
    changed          another writer has changed what the source reads of the target
    fails later      the same, once another statement blocks
    blocks           it runs until it is cancelled
    interrupts       Ctrl-C is pressed, and it runs until it is cancelled
    None             it works

With ` after` at its end (`lost after`) the statement has committed before.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

_CAPTURED = "pyspark.errors.exceptions.captured"
_RAISED = {
    "conflict": (
        "delta.exceptions.captured",
        "ConcurrentAppendException",
        "[DELTA_CONCURRENT_APPEND.WITHOUT_HINT] Files were added to the table by a concurrent update. SQLSTATE: 2D521",
    ),
    "protocol": (
        "delta.exceptions.captured",
        "ProtocolChangedException",
        "[DELTA_PROTOCOL_CHANGED] The protocol version of the Delta table has been changed. SQLSTATE: 2D521",
    ),
    "transient": ("py4j.protocol", "Py4JJavaError", "org.apache.spark.SparkException: Could not find BlockManager"),
    "unknown": (
        _CAPTURED,
        "UnknownException",
        "org.apache.iceberg.exceptions.CommitStateUnknownException: the catalog did not answer",
    ),
    "broken": ("py4j.protocol", "Py4JNetworkError", "Answer from Java side is empty"),
    "lost": ("py4j.protocol", "Py4JNetworkError", "Answer from Java side is empty"),
    "fails": (_CAPTURED, "ArithmeticException", "[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012"),
    "unread": (_CAPTURED, "AnalysisException", "[_LEGACY_ERROR_TEMP_1121] Table does not support batch scan."),
    "changed": (
        _CAPTURED,
        "SparkRuntimeException",
        "[USER_RAISED_EXCEPTION] another writer has changed what the source reads of the target SQLSTATE: P0001",
    ),
    "cancelled": (
        _CAPTURED,
        "SparkException",
        "[SPARK_JOB_CANCELLED] Job 7 cancelled part of cancelled job group SQLSTATE: XXKDA",
    ),
}
"""The module, class and text of what PySpark and Py4J raise: the product reads these."""
WORDS = frozenset(_RAISED) - {"cancelled"} | {"blocks", "interrupts", "fails later"}
_AFTER = " after"


class Faults:
    """Hands out the faults of each place in turn. Safe for many threads."""

    def __init__(self, places: Mapping[str, Sequence[str | None]] | None = None) -> None:
        self._left = {place.casefold(): list(words) for place, words in (places or {}).items()}
        self._guard = threading.Lock()
        for word in (word for words in self._left.values() for word in words):
            if word is not None and word.removesuffix(_AFTER) not in WORDS:
                raise ValueError(f"no fault of the fake engine: {word!r}")

    def next(self, place: str) -> tuple[str | None, bool]:
        """Return the fault at a place, None without one, and whether it comes after the commit."""
        return self._take(place.casefold())

    def next_of_text(self, statement: str) -> tuple[str | None, bool]:
        """Return the same of a statement that writes no model, by how it begins."""
        text = statement.casefold()
        place = max((each for each in self._left if text.startswith(each)), key=len, default="")
        return self._take(place)

    @property
    def left(self) -> dict[str, list[str | None]]:
        """What has not happened: a test whose faults are left over has not tested them."""
        return {place: words for place, words in self._left.items() if words}

    def _take(self, place: str) -> tuple[str | None, bool]:
        with self._guard:
            words = self._left.get(place)
            word = words.pop(0) if words else None
        if word is None:
            return None, False
        return word.removesuffix(_AFTER), word.endswith(_AFTER)


def raised(word: str) -> Exception:
    """Return what PySpark or Py4J raises for a fault, or for a statement that was `cancelled`."""
    return _exception(*_RAISED[word])


def missing(name: str) -> Exception:
    """Return what PySpark raises for a table that the catalog does not have."""
    text = f"[TABLE_OR_VIEW_NOT_FOUND] The table or view `{name}` cannot be found. SQLSTATE: 42P01"
    return _exception(_CAPTURED, "AnalysisException", text)


def _exception(module: str, name: str, text: str) -> Exception:
    condition = text.partition("]")[0].removeprefix("[") if text.startswith("[") else None
    asked = dict.fromkeys(("getCondition", "getErrorClass"), lambda _error: condition)
    kind = type(name, (Exception,), {"__module__": module, **(asked if module.startswith("pyspark") else {})})
    error: Exception = kind(text)
    return error
