"""Where events are written or sent: a file of JSON lines, or a transport of the `openlineage-python` client."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Protocol

from merge_runner.atomic import open_to_append
from merge_runner.openlineage import facets


class Transport(Protocol):
    """Takes events one at a time. `send` raises whatever may go wrong."""

    def send(self, event: Mapping[str, Any]) -> None:
        """Write or send one event."""

    def close(self, seconds: float) -> None:
        """End, after what is still on its way, for so many seconds at most."""


class FileTransport:
    """Appends each event to a file as one line of JSON, written in one piece: several processes may share it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[bytes] | None = None

    def send(self, event: Mapping[str, Any]) -> None:
        """Append one event. Raises OSError."""
        if self._file is None:
            self._file = open_to_append(self._path)
        self._file.write(json.dumps(event, ensure_ascii=False, default=str).encode() + b"\n")

    def close(self, seconds: float) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


class ClientTransport:
    """Sends events by the client's transport; `config` None: the one that the client's own environment names.

    Raises ModuleNotFoundError where the client is not installed, and what the client raises for its configuration.
    """

    def __init__(self, config: Mapping[str, Any] | None) -> None:
        from openlineage.client import OpenLineageClient

        self._client = OpenLineageClient(config={"transport": dict(config)} if config is not None else None)
        self._make = _run_event()

    def send(self, event: Mapping[str, Any]) -> None:
        """Send one event; what the transport raises is passed on."""
        self._client.emit(self._make(event))

    def close(self, seconds: float) -> None:
        """Close the transport."""
        self._client.close(seconds)


def _run_event() -> Callable[[Mapping[str, Any]], Any]:
    """Return what makes the client's RunEvent, whose facets may be plain mappings, of an event."""
    from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState

    def make(event: Mapping[str, Any]) -> RunEvent:
        run, job = event["run"], event["job"]
        return RunEvent(
            eventType=RunState(event["eventType"]),
            eventTime=event["eventTime"],
            run=Run(runId=run["runId"], facets=dict(run["facets"])),
            job=Job(namespace=job["namespace"], name=job["name"], facets=dict(job["facets"])),
            inputs=[InputDataset(**dataset) for dataset in event["inputs"]],
            outputs=[OutputDataset(**dataset) for dataset in event["outputs"]],
            producer=facets.PRODUCER,
        )

    return make
