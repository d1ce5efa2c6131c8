"""What Spark and the table formats raise, as one kind of error with what a user needs to know."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePath

from merge_runner.engine.spark.internals import internals
from merge_runner.engine.spark.java_exception import JavaException, raised_chain
from merge_runner.errors import Problem, did_you_mean
from merge_runner.formats.failures import HINTS, MOST_RETRIES, READING, WRAPPERS, Kind, known_failure, surroundings
from merge_runner.formats.rewordings import RewordedMessage, reword
from merge_runner.text import Place

__all__ = ["EngineError", "Kind", "engine_error", "engine_errors", "first_line", "from_engine", "silence_error_log"]

_BLANKS = r"(?:(?<!\s)\s+)?"
"""The blanks before a word, from the first on: to begin at each of them takes the square of their number."""
_REST = re.compile(
    r"\n[ \t]*at [\w.$/]+\(|\nJVM stacktrace:|\n== SQL|\n== DataFrame ==|;\n['+:A-Z]"
    r"|:?\n[^\n]+(?=\n[: ]*[:+]- )"  # the root of a plan, whose children follow
    r"|(?<!\s)\s+Conflicting commit: \{|\nDriver stacktrace:|\nThis stopped SparkContext was created at:"
)
_ADVICE = re.compile(
    rf"{_BLANKS}(?:Verify the spelling and correctness of the (?:schema and )?catalog\.?"
    r"|If you did not qualify the name with a(?: schema| catalog)?,?[^\n]*"
    r"|To tolerate the error on drop,? use [^\n]*)"
)
"""What Spark 4.1.4 adds to each name that it does not find (error-conditions.json): no DROP is involved here."""
_EMBEDDED = re.compile(
    r"(?<![\w$])(?<![\w$]\.)(?:[\w$]+\.)+([\w$]+): \[([A-Z][A-Z0-9]*_[A-Z_0-9]+(?:\.[A-Z_0-9]+)*)\] (.*)", re.DOTALL
)
"""What a task raised, in the text of the stage's failure."""
_UNRESOLVED_COLUMN = "UNRESOLVED_COLUMN"
_STAR = re.compile(r"\b(?:UPDATE\s+SET|INSERT)\s+(?=\*)", re.IGNORECASE)
_STAR_HINT = (
    "`*` needs every column of the target: select it in USING, list the columns, or write MERGE WITH SCHEMA EVOLUTION"
)
_UNRESOLVED = re.compile(
    r"Cannot resolve (\S+) in ((?:(?!Cannot resolve ).)+?) given columns (.+?)\.?(?:; line \d+ pos \d+|$)", re.MULTILINE
)


@dataclass
class EngineError(Exception):
    """A step failed. `offset` is where in `statement` (0-based), where the engine says so.

    `place` is where the author's files are wrong, where that is known and is not in the model's own text.

    `most_retries` is how often it may be run again at most, as the engines' nature allows.
    """

    code: str
    message: str
    hint: str | None = None
    kind: Kind = Kind.USER
    statement: str | None = field(default=None, repr=False)
    offset: int | None = None
    most_retries: int = 0
    place: Place | None = None

    def __str__(self) -> str:
        return f"{self.message} [{self.code}]" + (f"\n    {self.hint}" if self.hint else "")

    @classmethod
    def of(cls, problem: Problem) -> EngineError:
        """Return a problem of the author's files as the error of a step."""
        return cls(problem.code, problem.message, problem.hint, place=problem.place)

    def add_hint(self, hint: str) -> None:
        """Add what the step knows to the hint, on a line after what is known of the error itself."""
        self.hint = hint if self.hint is None else f"{self.hint}\n    {hint}"


def first_line(error: Exception) -> str:
    """The first line of an exception's text that is not blank; its type where it has none."""
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


def silence_error_log() -> None:
    """PySpark logs every failed statement as JSON with its stack, and Py4J each call that a JVM leaves unanswered.

    The node's result says what a failure means.
    """
    internals().silence_query_log()
    logging.getLogger().addFilter(_is_not_of_py4j)  # it writes to the root logger; adding it twice is adding it once


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    return "py4j" not in PurePath(record.pathname).parts


def from_engine(error: BaseException) -> bool:
    """Whether an exception is about the engine, files, or an interrupt, and not a bug of merge-runner."""
    module = type(error).__module__
    return isinstance(error, EngineError | OSError) or module.startswith(("py4j.", "pyspark.", "delta.", "grpc."))


@contextmanager
def engine_errors(statement: str | None = None, *, or_bugs: bool = False) -> Iterator[None]:
    """Raise what goes wrong inside as an EngineError: PySpark, Py4J and the formats raise many kinds.

    `statement` is the text that is run inside. `or_bugs`: what is done inside is more than calls of the engine, and an
    exception that is not from there is a bug of merge-runner: it stays what it is.
    """
    try:
        yield
    except Exception as error:
        if or_bugs and not from_engine(error):
            raise
        raise engine_error(error, statement) from error


def engine_error(error: BaseException, statement: str | None = None) -> EngineError:
    """`error` of PySpark, Py4J or Delta as an EngineError: Spark's error class as code, and the message without stack.

    What may be done about it is looked up in `formats/failures.py`. `statement` is the text that was run: a position is
    given only where the engine speaks of this very text.
    """
    if isinstance(error, EngineError):
        return error
    if isinstance(error, InterruptedError):
        return EngineError("cancelled", "cancelled", kind=Kind.CANCELLED)
    if isinstance(error, OSError) and error.errno is not None and not isinstance(error, ConnectionError):
        where = f"{error.filename}: " if error.filename else ""
        around = surroundings(str(error.strerror))
        return EngineError("file-system", f"{where}{error.strerror}", around[1] if around is not None else None)
    chain = raised_chain(error)
    failure = known_failure(tuple((name, exception.message) for exception in chain for name in exception.names))
    kind = failure.kind if failure is not None else Kind.USER
    most = MOST_RETRIES[kind] if failure is None or failure.retries is None else failure.retries
    decisive = _decisive(chain)
    code = decisive.condition or decisive.name
    message, offset = _trim(_with_file(decisive, chain)), _offset(error, statement)
    explanation = reword(code, message) if kind is Kind.USER else RewordedMessage(message, None)
    message, hint = explanation.message, HINTS.get(code, explanation.hint)
    if explanation.name is not None:
        hint = did_you_mean(explanation.name, explanation.suggestions) or hint
        offset = _nearer(offset, explanation.name, statement)
    around = (
        surroundings("\n".join(exception.message for exception in chain))
        if kind in (Kind.USER, Kind.TRANSIENT)
        else None
    )
    if around is not None and hint is None:
        cause, hint = around
        message += f"\n{cause}" if cause not in message else ""
    if kind is Kind.LOST and "SparkContext" not in message:  # else Spark itself has reported that it has stopped
        message = f"the connection to Spark broke: {message}"
    if unresolved := _UNRESOLVED.search(message):
        # Delta gives no place, and all columns of both tables instead of the one that was meant.
        name, where, columns = unresolved.groups()
        message, hint = f"{name} cannot be resolved in {where}", did_you_mean(name, columns.split(", "))
        offset = _nearer(offset, name, statement)
    missing = unresolved[1] if unresolved else explanation.name if code.startswith(_UNRESOLVED_COLUMN) else None
    if (star := _star(missing, statement)) is not None:
        hint, offset = _STAR_HINT, star
    return EngineError(code, message, hint, kind, statement, offset, most)


def _decisive(chain: tuple[JavaException, ...]) -> JavaException:
    """Of an error and its causes, the one that says what is wrong: the first with a condition that is no wrapper's.

    Without any, what a task raised; else the first with the last cause, which says where it comes from.
    """
    with_condition = [
        exception for exception in chain if exception.condition is not None and exception.condition not in WRAPPERS
    ]
    if with_condition:
        return with_condition[0]
    if match := _EMBEDDED.search(chain[0].message):
        return JavaException(*match.groups())
    first, last = chain[0], chain[-1]
    if _trim(last.message) in _trim(first.message):
        return first
    return JavaException(first.name, None, f"{first.message.strip()}\n{last.name}: {last.message}".strip())


def _with_file(decisive: JavaException, chain: tuple[JavaException, ...]) -> str:
    """The message of what is wrong, with the file that it is wrong in, where a wrapper names that."""
    reading = next((exception for exception in chain if exception.condition == READING), None)
    if reading is None or reading is decisive:
        return decisive.message
    return f"{_trim(reading.message)}: {decisive.message}"


def _trim(text: str) -> str:
    """The message's first part: without stack, SQLSTATE, the other writer's commit and the echo of the statement."""
    body = _REST.split(text)[0]
    body = re.sub(rf"; line \d+ pos \d+|{_BLANKS}\(line \d+, pos \d+\)\s*\Z", "", body.strip())
    body = re.sub(rf"{_BLANKS}SQLSTATE: \w+(?=\.|;|$|\n)", "", body)
    body = re.sub(rf"{_BLANKS}(?:Please retry the operation\. )?Refer to https://\S+.*", "", body, flags=re.DOTALL)
    body = _ADVICE.sub("", body)
    return body.strip().rstrip(".") or "the engine gave no message"


def _word(word: str, statement: str | None) -> int | None:
    """Return the offset of a name in a statement, if it appears there once."""
    occurrences = re.findall(rf"(?<![\w.`]){re.escape(word)}(?![\w`])", statement or "")
    return statement.find(word) if statement is not None and len(occurrences) == 1 else None


def _nearer(offset: int | None, name: str, statement: str | None) -> int | None:
    """Return the offset that an engine gives, or, where that is none or that of MERGE, the one of the name it means."""
    if statement is None or (offset is not None and statement[offset : offset + 5].casefold() != "merge"):
        return offset
    word = _word(name, statement)
    return offset if word is None else word


def _star(name: str | None, statement: str | None) -> int | None:
    """Return the offset of the first `*` of a MERGE whose text does not have a name as the engine has it; else None."""
    if name is None or statement is None:
        return None
    star = _STAR.search(statement)
    pattern = rf"(?<![\w.]){re.escape(name.replace('`', ''))}(?!\w)"
    if star is None or re.search(pattern, statement.replace("`", ""), re.IGNORECASE):
        return None
    return star.end()


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
