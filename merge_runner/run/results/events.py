"""What happens during an invocation, as values that the journal keeps and the display shows."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from merge_runner.engine.driver.driver import Driver

Level = Literal["debug", "info", "warn", "error"]


@dataclass(frozen=True)
class Event:
    """One event: a name such as `node_started`, timestamp (UTC), severity, and JSON-like data."""

    name: str
    at: datetime
    level: Level
    data: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """One flat object: event, at (ISO 8601), level, and the data."""
        return {"event": self.name, "at": self.at.isoformat(), "level": self.level, **self.data}


Listener = Callable[[Event], None]


class Events:
    """Passes every event to every listener, one event at a time, from whatever thread it comes."""

    def __init__(self, *listeners: Listener, observe: Callable[[Driver], None] = lambda _: None) -> None:
        self._listeners = list(listeners)
        self.observe = observe
        """Receives the driver once it runs, to show what it does."""
        self._conceal: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda data: data
        self._lock = threading.Lock()

    def listen(self, listener: Listener) -> None:
        """Adds a listener."""
        self._listeners.append(listener)

    def forget(self, listener: Listener) -> None:
        """Takes a listener away again."""
        with self._lock:
            self._listeners.remove(listener)

    def conceal_with(self, concealed: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
        """Has secrets taken out of the data of every event from here on."""
        self._conceal = concealed

    def emit(self, name: str, level: Level = "info", /, **data: Any) -> None:
        """Pass an event `name` with the current timestamp to the listeners."""
        shown = self._conceal(data)
        with self._lock:
            event = Event(name, datetime.now(timezone.utc), level, shown)
            for listener in self._listeners:
                listener(event)
