"""What Spark and the table formats raise, as one kind of error that says what a person needs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum

from merge_runner.errors import did_you_mean

_DELTA_CLASS = re.compile(r"\[(DELTA_[A-Z_0-9.]+|[A-Z][A-Z_0-9]+(?:\.[A-Z_0-9]+)?)\]")
_CLASS_IN_BRACKETS = re.compile(r"\A\(((?:[\w$]+\.)+[\w$]+)\) ")
_UNRESOLVED = re.compile(r"Cannot resolve (\S+) in (.+?) given columns (.+)")
_CONFLICTS = (
    # delta.exceptions; none is a subclass of the Python DeltaConcurrentModificationException (delta-spark 4.4.0)
    "ConcurrentAppendException",
    "ConcurrentDeleteReadException",
    "ConcurrentDeleteDeleteException",
    "ConcurrentTransactionException",
    "ConcurrentWriteException",
    "MetadataChangedException",
    "ProtocolChangedException",
)


class Kind(Enum):
    """What may be done about a failure."""

    USER = "user"
    """The statement or its data: running it again would fail again."""
    CONFLICT = "conflict"
    """Another writer committed first, and nothing of this statement did: it may be run again as a whole."""
    CANCELLED = "cancelled"
    """It was stopped by us."""


@dataclass
class EngineError(Exception):
    """A step failed. `offset` is where in `statement` (0-based), where the engine says so."""

    code: str
    message: str
    hint: str | None = None
    kind: Kind = Kind.USER
    statement: str | None = field(default=None, repr=False)
    offset: int | None = None

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]" + (f"\n    {self.hint}" if self.hint else "")


def first_line(error: Exception) -> str:
    """The first line of an exception's text that is not blank; its type where it has none."""
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


def silence_error_log() -> None:
    """PySpark logs every failed statement as JSON with its stack; what a failure means is told by the node's result."""
    from pyspark.logger import PySparkLogger

    PySparkLogger.getLogger("SQLQueryContextLogger").disabled = True


def from_engine(error: BaseException) -> bool:
    """Whether an exception tells of the engine, or of being stopped, and not of a mistake in this program."""
    module = type(error).__module__
    return isinstance(error, EngineError | InterruptedError | ConnectionError) or module.startswith(
        ("py4j.", "pyspark.", "delta.", "grpc.")
    )


def engine_error(error: BaseException, statement: str | None = None) -> EngineError:
    """`error` of PySpark, Py4J or Delta as an EngineError: Spark's error class as code, and the message without stack.

    `statement` is the text that was run: a position is given only where the engine speaks of this very text.
    """
    if isinstance(error, EngineError):
        return error
    if isinstance(error, InterruptedError):
        return EngineError("cancelled", "cancelled", kind=Kind.CANCELLED)
    text = _text(error)
    code = _condition(error) or _first_class(text) or type(error).__name__
    kind = Kind.USER
    if any(name in text or name == type(error).__name__ for name in _CONFLICTS):
        kind = Kind.CONFLICT
    elif code == "OPERATION_CANCELED" or ("cancelled" in text and ("Job" in text or "SparkException" in text)):
        kind = Kind.CANCELLED
    message, hint, offset = _message(text), None, _offset(error, statement)
    if unresolved := _UNRESOLVED.search(message):
        # Delta gives no place, and all columns of both tables instead of the one that was meant.
        name, where, columns = unresolved.groups()
        message, hint = f"{name} cannot be resolved in {where}", did_you_mean(name, columns.rstrip(".").split(", "))
        offset = _word(name, statement) if offset is None else offset
    return EngineError(code, message, hint, kind, statement, offset)


def _text(error: BaseException) -> str:
    """The most telling text: a Delta error that PySpark fails to convert hides in the context of the one raised."""
    java = getattr(error, "java_exception", None)
    context = error.__context__
    if "Cannot find main error class" in _java_text(java) and context is not None and context is not error:
        return _text(context)
    return _java_text(java) if java is not None else _remote_text(str(error))


def _remote_text(text: str) -> str:
    """What a Spark Connect server tells, as a Java throwable would say it: its class first, and no stack."""
    message, _, stack = text.partition("\n\nJVM stacktrace:\n")
    message, found = _CLASS_IN_BRACKETS.subn(r"\1: ", message.lstrip())
    throwable = stack.partition("\n")[0].strip()
    return f"{throwable}: {message}" if throwable and not found else message


def _java_text(java: object) -> str:
    """Class and message of a Java throwable and its deepest cause, without the stack."""
    if java is None:
        return ""
    try:
        first = str(java.toString())  # type: ignore[attr-defined]  # a Py4J object
        cause = java
        while cause.getCause() is not None:  # type: ignore[attr-defined]
            cause = cause.getCause()  # type: ignore[attr-defined]
        last = str(cause.toString())  # type: ignore[attr-defined]
    except Exception:  # the gateway may be gone, and the error must still be told
        return str(java)
    return first if last in first else f"{first}\n{last}"


def _condition(error: BaseException) -> str | None:
    getter = getattr(error, "getCondition", None)
    try:
        condition = getter() if getter else None
    except Exception:  # PySpark asks the JVM, which may be gone
        return None
    return str(condition) if condition and condition != "INTERNAL_ERROR" else None


def _first_class(text: str) -> str | None:
    match = _DELTA_CLASS.search(text)
    return match.group(1) if match else None


def _message(text: str) -> str:
    """The message's first part: without Java class names, JVM stack, SQLSTATE and the echo of the statement."""
    body = re.split(r"\n\s*at [\w.$]+\(|\nJVM stacktrace:|\n== SQL|\n== DataFrame ==|;\n'", text)[0].strip()
    body = re.sub(r"^(?:[\w$]+\.)+[\w$]+(?:Exception|Error): ", "", body)
    body = re.sub(r"^\[[A-Z][A-Z_0-9.]+\]\s*", "", body)
    body = re.sub(r"\s*SQLSTATE: \w+(?=\.|;|$|\n)", "", body)
    body = re.sub(r"; line \d+ pos \d+", "", body)
    return body.strip().rstrip(".") or "the engine gave no message"


def _word(word: str, statement: str | None) -> int | None:
    """Where a name stands in a statement, if it stands there once."""
    found = re.findall(rf"(?<![\w.`]){re.escape(word)}(?![\w`])", statement or "")
    return statement.find(word) if statement is not None and len(found) == 1 else None


def _offset(error: BaseException, statement: str | None) -> int | None:
    if statement is None:
        return None
    try:
        for context in error.getQueryContext():  # type: ignore[attr-defined]  # PySparkException only
            fragment = context.fragment()
            start = int(context.startIndex())
            if fragment and statement[start : start + len(fragment)] == fragment:
                return start
    except Exception:  # DataFrame contexts have no fragment, Py4J errors no context
        pass
    match = re.search(r"\(line (\d+), pos (\d+)\)|line (\d+),? pos (\d+)", str(error))
    if match is None:
        return None
    line, column = (int(group) for group in match.groups() if group is not None)
    lines = statement.split("\n")
    if line > len(lines):
        return None
    return sum(len(text) + 1 for text in lines[: line - 1]) + column
