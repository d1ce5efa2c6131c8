"""Passes what is to be known in addition to a result to Python's `logging`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from merge_runner.errors import Problem
    from merge_runner.project.load.not_read import UnreadPart

_LEVELS = {"info": logging.INFO, "warn": logging.WARNING}


class LoggedMessages:
    """Logs to the child `subject` of the logger `merge_runner`."""

    def __init__(self, subject: str) -> None:
        self._logger = logging.getLogger(f"merge_runner.{subject}")

    def not_read(self, items: Sequence[UnreadPart]) -> None:
        """Log what of a dbt project is not read."""
        for item in items:
            self.say(f"{item.where}: {item.message}; {item.hint}")

    def warn(self, problems: Sequence[Problem]) -> None:
        """Log warnings."""
        for problem in problems:
            self.say(str(problem), "warn")

    def say(self, text: str, level: Literal["info", "warn"] = "info") -> None:
        """Log a line of text."""
        self._logger.log(_LEVELS[level], "%s", text)
