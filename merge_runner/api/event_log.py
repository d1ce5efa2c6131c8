"""Passes events, and what templates log, to Python's `logging`: a child of the logger `merge_runner` by subject."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from merge_runner.run.results.events import Event, Level
from merge_runner.template.rendered_text import Log

_LEVELS: Mapping[Level, int] = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warn": logging.WARNING,
    "error": logging.ERROR,
}
_PLAIN = (str, int, float)
SUBJECTS: Mapping[str, str] = {
    "batch": "stream",
    "branch": "publish",
    "hook": "run",
    "merges": "run",
    "message": "run",
    "invocation": "run",
    "notification": "run",
    "running": "run",
    "table": "publish",
}
"""The child logger of an event by the first word of its name; that word itself where it is not here."""


def log_event(event: Event) -> None:
    """Log an event at its level; the record has it as `event`."""
    first = event.event.partition("_")[0]
    logger = logging.getLogger(f"merge_runner.{SUBJECTS.get(first, first)}")
    level = _LEVELS[event.level]
    if logger.isEnabledFor(level):
        logger.log(level, "%s", _text(event), extra={"event": event})


def log_template(log: Log) -> None:
    """Log what a template logs to `merge_runner.template`: with `info=true` as INFO, else as DEBUG."""
    level = logging.INFO if log.info else logging.DEBUG
    logging.getLogger("merge_runner.template").log(level, "%s: %s", log.place, log.message)


def _text(event: Event) -> str:
    """Return the message of an event, else its name with its plain values."""
    data = event.data
    if isinstance(data.get("message"), str):
        return str(data["message"])
    return " ".join((event.event, *(f"{key}={value}" for key, value in data.items() if isinstance(value, _PLAIN))))
