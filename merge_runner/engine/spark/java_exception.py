"""What an exception of PySpark, Py4J or Spark Connect says: the names and messages of it and of its causes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from merge_runner.engine.spark.internals import internals

_LONGEST_CHAIN = 20
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9]*_[A-Z_0-9]+(?:\.[A-Z_0-9]+)*)\]\s*")
_CLASS = re.compile(r"((?:[\w$]+\.)+[\w$]+)(?:: |\Z)")
_CLASS_IN_PARENTHESES = re.compile(r"\(((?:[\w$]+\.)+[\w$]+)\) ")
_NO_TEXT = "Cannot find main error class"
"""PySpark 4.1.4 asks Spark for the text of a condition that only Delta knows: the real error is the context then."""


@dataclass(frozen=True)
class JavaException:
    """One exception of a chain: the simple name of its class, its error condition, its message without both."""

    name: str
    condition: str | None
    message: str

    @property
    def names(self) -> tuple[str, ...]:
        """What it may be known by."""
        return (self.name,) if self.condition is None else (self.name, self.condition)


def raised_chain(error: BaseException) -> tuple[JavaException, ...]:
    """An exception and its causes in the JVM, the first one raised first; never empty."""
    context = error.__context__
    java = getattr(error, "java_exception", None)
    if context is not None and context is not error and _NO_TEXT in _java_text(java):
        return raised_chain(context)
    if java is not None:
        return tuple(_of_text(text, type(error).__name__) for text in _java_chain(java))
    own = _of_text(_remote_text(str(error)), type(error).__name__)
    condition = _condition(error) or own.condition
    raised = JavaException(type(error).__name__, condition, own.message)
    # PySpark's own exceptions keep the throwable that they were made of.
    causes = [_of_text(text, own.name) for text in _java_chain(getattr(error, "_origin", None))]
    return (raised, own, *causes) if own.name != raised.name else (raised, *causes)


def _of_text(text: str, name: str) -> JavaException:
    """What a throwable's own text says: `package.Class: [CONDITION] message`."""
    body = text.strip()
    if match := _CLASS.match(body):
        name, body = match[1].rpartition(".")[2].rpartition("$")[2], body[match.end() :]
    condition = _CONDITION.match(body)
    if condition is None:
        return JavaException(name, None, body)
    return JavaException(name, condition[1], body[condition.end() :])


def _remote_text(text: str) -> str:
    """Format the error of a Spark Connect server as a Java throwable prints it: its class first, and no stack."""
    message, _, stack = text.partition("\n\nJVM stacktrace:\n")
    message = message.lstrip()
    if match := _CLASS_IN_PARENTHESES.match(message):
        return f"{match[1]}: {message[match.end() :]}"
    throwable = stack.partition("\n")[0].strip()
    return f"{throwable}: {message}" if throwable else message


def _java_chain(java: Any) -> Iterator[str]:
    """The texts of a Java throwable and of its causes, without stacks."""
    for _ in range(_LONGEST_CHAIN):
        if java is None:
            return
        yield _java_text(java)
        try:
            java = java.getCause()
        except Exception:  # the gateway may be gone, and the error must still be reported
            return


def _java_text(java: Any) -> str:
    if java is None:
        return ""
    try:
        return str(java.toString())
    except Exception:  # likewise
        return str(java)


def _condition(error: BaseException) -> str | None:
    getter = getattr(error, internals().condition, None)
    try:
        condition = getter() if getter else None
    except Exception:  # PySpark asks the JVM, which may be gone
        return None
    return str(condition) if condition and condition != "INTERNAL_ERROR" else None
