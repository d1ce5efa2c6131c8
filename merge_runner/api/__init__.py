"""The Python interface, on which the command line is built: the results of each command, as objects."""

from __future__ import annotations

import logging

from merge_runner.api.project import Project as Project

__all__ = ["Project"]

logging.getLogger("merge_runner").addHandler(logging.NullHandler())  # the application decides what is shown
