"""The page of error codes."""

from __future__ import annotations

from collections.abc import Iterator

from merge_runner.formats.failures import FAILURES, HINTS, Kind
from tools.docgen.command_page import EXIT_STATUS
from tools.docgen.error_texts import ERRORS
from tools.docgen.markdown import page, table

_INTRODUCTION = """\
An error or warning ends with its code: `models/fct_order.sql:3:7: there is no model or seed "stg_order"
[unknown-ref]`. With `--log-format json` it is the field `code`. Lint findings have rule codes: see [the
rules](rules/README.md)."""

_ENGINE = """\
Other codes are the error conditions and exception classes of Spark, Delta and Iceberg, with the engine's own
message. merge-runner knows what to do about these:"""

_RETRIED = """\
These are no mistakes of a model. The statement is run again as often as the config key `retries` allows (default 3),
after the table was asked whether it has committed; see the kind:"""

_KINDS = {
    Kind.CONFLICT: "another writer committed first: the whole statement runs again",
    Kind.TRANSIENT: "something around the statement failed: it runs again if the table has no commit of it",
    Kind.COMMIT_UNKNOWN: "the answer to the commit was lost: the table is asked first; once again at most",
    Kind.LOST: "the connection to Spark broke: the same, once Spark has ended the statement",
    Kind.CANCELLED: "cancelled by Ctrl-C, `--fail-fast` or `timeout`: not run again",
}


def error_codes() -> str:
    """Return the page of all error codes."""
    return page(
        "Error codes",
        _INTRODUCTION,
        "## Exit status",
        table(("status", "meaning"), ((f"`{status}`", text) for status, text in EXIT_STATUS.items())),
        *_ours(),
        "## Errors of Spark, Delta and Iceberg",
        _ENGINE,
        table(("code", "what to do"), ((f"`{code}`", text) for code, text in HINTS.items())),
        "## Failures that are retried",
        _RETRIED,
        table(("kind", "what happens", "errors"), _retried()),
    )


def _ours() -> Iterator[str]:
    for subject, texts in ERRORS.items():
        yield f"## {subject}"
        rows = ((f"`{code}`", text.means, text.to_do) for code, text in sorted(texts.items()))
        yield table(("code", "meaning", "what to do"), rows)


def _retried() -> Iterator[tuple[str, str, str]]:
    for kind, text in _KINDS.items():
        found = {each.error: " (some, by message)" if each.text else "" for each in FAILURES if each.kind is kind}
        yield f"`{kind.value}`", text, ", ".join(f"`{name}`{some}" for name, some in found.items())
