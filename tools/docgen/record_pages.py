"""The pages of what a run records: adapter responses, journal events."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, ClassVar, NamedTuple, get_args, get_origin, get_type_hints

from merge_runner.engine.response import PARTS
from merge_runner.run.results.event_types import EVENTS
from merge_runner.run.results.events import Event
from merge_runner.run.results.results import Status
from tools.docgen.keys import class_text, docstrings, type_name
from tools.docgen.markdown import page, table

_RESPONSE = """\
`adapter_response` of a node is in its entry of `target/run_results.json` and in the event `node_finished` of
`target/journal.jsonl`. All figures are those of the engine; nothing is estimated. A key is missing where it does not
apply, and `null` where the format does not report it."""

STATUS: Mapping[Status, str] = {
    "success": "a model or seed ran",
    "partial success": "some batches of the model succeeded, and some did not",
    "no-op": "there was nothing to do: unchanged inputs, a batch that is committed already, no files to compact",
    "error": "it failed",
    "pass": "a test passed",
    "warn": "a test has failures that are a warning",
    "fail": "a test has failures",
    "skipped": "something upstream failed, or the run was stopped",
}

_EVENTS = """\
`target/journal.jsonl` has one JSON object per line for everything that happens in a run, appended and flushed before
the run goes on: a run that is killed is never lost. `--log-format json` writes the same lines to standard error.
Fields may be added; those below keep their names."""


class Recorded(NamedTuple):
    """A field of a record. `unit` is empty where there is none."""

    name: str
    type_name: str
    unit: str
    meaning: str


def recorded(kind: Any) -> list[Recorded]:
    """Return the fields of a type, those of its bases first; of an event those that not every event has.

    Raises ValueError for a field without a docstring.
    """
    texts: dict[str, str] = {}
    for each in kind.__mro__:
        texts |= docstrings(each) if each.__module__.startswith("merge_runner.") else {}
    found = []
    of_fields = {each.name: each for each in fields(kind)} if is_dataclass(kind) else {}
    everywhere = get_type_hints(Event) if kind is not Event and issubclass(kind, Event) else {}
    for name, hint in get_type_hints(kind).items():
        own = of_fields.get(name)
        if name in everywhere or (own is not None and own.metadata):
            continue  # of every event, or a part of a response, which has a table to itself
        if name not in texts:
            raise ValueError(f"{kind.__qualname__}.{name} has no docstring: say what it means")
        meaning, _, unit = inspect.cleandoc(texts[name]).partition(" Unit: ")
        found.append(Recorded(name, _json_type(hint, own is None or own.default is not None), unit, meaning))
    return found


def adapter_response() -> str:
    """Return the page of the keys of adapter responses."""
    return page(
        "Adapter response",
        _RESPONSE,
        *(part for kind in PARTS for part in (f"## {_title(kind)}", _table(kind))),
        "## Status of a node",
        "`status` in the same entry:",
        table(("status", "meaning"), ((f"`{status}`", text) for status, text in STATUS.items())),
    )


def _title(kind: Any) -> str:
    return class_text(kind).partition("\n")[0].rstrip(".")


def journal_events() -> str:
    """Return the page of the events of the journal."""
    return page("Journal events", _EVENTS, "## Fields of every event", _table(Event), *_events())


def _events() -> Iterator[str]:
    for name, kind in EVENTS.items():
        yield f"## `{name}`"
        yield class_text(kind)
        yield _table(kind)


def _table(kind: Any) -> str:
    rows = ((f"`{each.name}`", each.type_name, each.unit, each.meaning) for each in recorded(kind))
    return table(("field", "type", "unit", "meaning"), rows)


def _json_type(hint: Any, null: bool) -> str:
    """Return the type of a key; `null`: whether the key is there while the value is None."""
    if get_origin(hint) is ClassVar:
        (hint,) = get_args(hint)
    if hint is datetime:
        hint = str
    nullable = null and type(None) in get_args(hint)
    return type_name(hint).replace("mapping", "object") + (" or `null`" if nullable else "")
