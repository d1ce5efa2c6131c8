"""Flags of dbt that mean nothing here: tools that run dbt give them to every command, and they are accepted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

_FLAGS = {
    "--partial-parse/--no-partial-parse": "what is unchanged is never read again",
    "--static-parser/--no-static-parser": "there is one parser",
    "--use-experimental-parser/--no-use-experimental-parser": "there is one parser",
    "--version-check/--no-version-check": "no project requires a version of dbt",
    "--cache-selected-only/--no-cache-selected-only": "there is no cache of relations",
    "--populate-cache/--no-populate-cache": "there is no cache of relations",
    "--log-cache-events/--no-log-cache-events": "there is no cache of relations",
    "--send-anonymous-usage-stats/--no-send-anonymous-usage-stats": "nothing is sent",
    "--use-colors": "a terminal has colours; --no-use-colors turns them off",
    "--use-colors-file/--no-use-colors-file": "there is no log file",
    "--print/--no-print": "macros print nothing",
    "--macro-debugging/--no-macro-debugging": "an error in a macro names its place",
    "--write-json/--no-write-json": "artifacts are always written",
    "--introspect/--no-introspect": "a model asks the engine nothing while it renders",
    "--upload-to-artifacts-ingest-api/--no-upload-to-artifacts-ingest-api": "nothing is sent",
    "--use-fast-test-edges/--no-use-fast-test-edges": "tests never order models that they do not read",
    "--show-all-deprecations/--no-show-all-deprecations": "each is shown",
    "--no-fail-fast": "it is so without --fail-fast",
}
_VALUES = {
    "--log-path": "the journal in the target folder has every event",
    "--log-level": "-d shows more, -q less",
    "--log-level-file": "the journal in the target folder has every event",
    "--log-format-file": "the journal in the target folder has every event",
    "--log-file-max-bytes": "there is no log file",
    "--record-timing-info": "target/run_report.html has the times of a run",
    "--printer-width": "lines are as wide as the terminal",
}
_GIVEN = "merge_runner.dbt_flags"


def accepted() -> Iterator[click.Option]:
    """Yield an option for each of them, which no help shows and no command gets."""
    for flags, reason in _FLAGS.items():
        yield _option(flags, reason, default=None, is_flag=True)
    for flag, reason in _VALUES.items():
        yield _option(flag, reason)


def messages(context: click.Context) -> list[str]:
    """Return why each of them that was given has no effect."""
    texts: list[str] = context.meta.get(_GIVEN, [])
    return texts


def _option(flags: str, reason: str, **settings: Any) -> click.Option:
    flag_names = flags.replace("/", ", ")

    def note(context: click.Context, _param: click.Parameter, value: Any) -> None:
        if value is not None:
            context.meta.setdefault(_GIVEN, []).append(f"{flag_names} has no effect: {reason}")

    return click.Option([flags], hidden=True, expose_value=False, callback=note, **settings)
