"""What happens during an invocation, as values that the journal keeps and the display shows."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from merge_runner.engine.driver.driver import Driver

Level = Literal["debug", "info", "warn", "error"]


def _now() -> datetime:
    return datetime.now(timezone.utc)


@dataclass(frozen=True, kw_only=True)
class Event:
    """Every event."""

    event: ClassVar[str]
    """The name of the event."""
    at: datetime = field(default_factory=_now)
    """When it happened: UTC, ISO 8601."""
    level: Level = "info"
    """Its severity."""

    def __init_subclass__(cls) -> None:
        cls.event = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()

    @property
    def data(self) -> dict[str, Any]:
        """The fields that other events do not have."""
        return {
            attribute.name: getattr(self, attribute.name)
            for attribute in fields(self)
            if attribute.name not in ("at", "level")
        }

    def as_json(self) -> dict[str, Any]:
        """Return one flat object: event, at (ISO 8601), level, and the data."""
        return {"event": self.event, "at": self.at.isoformat(), "level": self.level, **self.data}


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

    def emit(self, event: Event) -> None:
        """Pass an event with the current timestamp to the listeners."""
        concealed = self._conceal(event.data)
        with self._lock:
            event = replace(event, at=_now(), **concealed)
            for listener in self._listeners:
                listener(event)
