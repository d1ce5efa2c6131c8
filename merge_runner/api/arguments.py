"""What callers may give in several forms: one name or several, a path or its text, listeners or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from merge_runner.engine.driver.driver import Driver
    from merge_runner.run.results.events import Events, Listener

Names = str | Sequence[str]


def texts(names: Names) -> tuple[str, ...]:
    """Return several names, or one, as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)


def as_path(path: str | Path | None) -> Path | None:
    """Return a path that may be given as a text."""
    return None if path is None else Path(path)


def events_to(on_event: Listener | None, on_driver: Callable[[Driver], None] | None = None) -> Events:
    """Return the events of an invocation: they are logged, and `on_event` and `on_driver` receive theirs."""
    from merge_runner.api.event_log import log_event
    from merge_runner.run.results.events import Events

    listeners = (log_event,) if on_event is None else (log_event, on_event)
    return Events(*listeners, observe=on_driver or (lambda _driver: None))
