"""Emits OpenLineage events while nodes run, where the profile or the environment asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as version_of
from typing import Any

from merge_runner.openlineage.node_facts import ProjectFacts
from merge_runner.openlineage.run_events import KINDS, RunEvents
from merge_runner.openlineage.sender import Sender
from merge_runner.openlineage.settings import LineageSettings
from merge_runner.openlineage.transport import ClientTransport, FileTransport, Transport
from merge_runner.plan.load.project_context import Prepared
from merge_runner.run.results.event_types import Message
from merge_runner.run.results.events import Event, Events

_SECONDS = 10.0
"""How long the end of an invocation waits for events that have not been sent."""


@contextmanager
def emitting(
    settings: LineageSettings, prepared: Prepared, ids: Iterable[str], events: Events, *, streams: bool
) -> Iterator[None]:
    """Emit events about the nodes `ids` while the block runs. Whatever goes wrong with that is a warning."""
    warn = partial(_warn, events)
    try:
        facts = ProjectFacts(prepared, ids, streams=streams)
    except Exception as error:  # a bug in what describes the run must not be the end of the run
        warn(f"{type(error).__name__}: {error}")
        yield
        return
    run_events = RunEvents(prepared, settings, facts, _spark_version(prepared))
    sender = Sender(partial(_connect, settings), partial(_events_of, prepared, run_events), warn)

    def listen(event: Event) -> None:
        if isinstance(event, KINDS):
            sender.put(event)

    events.listen(listen)
    try:
        yield
    finally:
        events.forget(listen)
        sender.close(_SECONDS)


def _events_of(prepared: Prepared, run_events: RunEvents, event: Event) -> Iterator[Mapping[str, Any]]:
    for run_event in run_events.of(event):
        yield prepared.concealed(run_event)


def _connect(settings: LineageSettings) -> Transport:
    return FileTransport(settings.file) if settings.file is not None else ClientTransport(settings.transport)


def _warn(events: Events, text: str) -> None:
    events.emit(Message(f"OpenLineage: {text}; the run is not affected", level="warn"))


def _spark_version(prepared: Prepared) -> str | None:
    """The version of the Spark in this process; that of a Spark Connect server is not known here."""
    if prepared.files.profile.remote is not None:
        return None
    try:
        return version_of("pyspark")
    except PackageNotFoundError:
        return None
