"""The Python interface, on which the command line is built: the results of each command, as objects."""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from merge_runner.api.conversion import import_dbt as import_dbt
    from merge_runner.api.conversion import import_merges as import_merges
    from merge_runner.api.lint import lint_paths as lint_paths
    from merge_runner.api.project import Project as Project
    from merge_runner.api.set_up import clean as clean
    from merge_runner.api.set_up import debug as debug
    from merge_runner.api.set_up import fetch_jars as fetch_jars
    from merge_runner.api.set_up import install_packages as install_packages
    from merge_runner.api.set_up import make_archive as make_archive
    from merge_runner.api.warm import stop_warm as stop_warm
    from merge_runner.api.warm import warm_status as warm_status
    from merge_runner.engine.driver.driver import Driver as Driver
    from merge_runner.engine.spark.errors import EngineError as EngineError
    from merge_runner.lint.refusal import LintError as LintError

_MODULES = {
    "Driver": "engine.driver.driver",
    "EngineError": "engine.spark.errors",
    "LintError": "lint.refusal",
    "Project": "api.project",
    "clean": "api.set_up",
    "debug": "api.set_up",
    "fetch_jars": "api.set_up",
    "import_dbt": "api.conversion",
    "import_merges": "api.conversion",
    "install_packages": "api.set_up",
    "lint_paths": "api.lint",
    "make_archive": "api.set_up",
    "stop_warm": "api.warm",
    "warm_status": "api.warm",
}
__all__ = [*_MODULES]  # noqa: PLE0604 -- names, read from the table

logging.getLogger("merge_runner").addHandler(logging.NullHandler())  # the application decides what is shown


def __getattr__(name: str) -> Any:
    # No command needs all of it, and importing all of it takes as long as most commands do.
    if name in _MODULES:
        return getattr(import_module(f"merge_runner.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
