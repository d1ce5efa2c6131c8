"""Runs a macro as an operation: its statements are executed one after the other, in one session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from merge_runner.engine.driver.driver_source import DriverSource
from merge_runner.engine.operation import Statements
from merge_runner.engine.tables.catalog import Catalog
from merge_runner.errors import Problem, ProblemsError, did_you_mean
from merge_runner.plan.load.project_context import Prepared
from merge_runner.run.execution.driver_scope import driving
from merge_runner.run.node.text_on_engine import attacher
from merge_runner.run.results.events import Events


@dataclass(frozen=True)
class OperationResult:
    """The outcome of an operation: how many statements ran, what the macro returned, and why it ended early."""

    macro: str
    statements: int
    returned: Any = None
    problems: tuple[Problem, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the macro came to its end."""
        return not self.problems


def run_operation(
    prepared: Prepared,
    macro: str,
    arguments: Mapping[str, Any],
    events: Events,
    source: DriverSource,
) -> OperationResult:
    """Call a macro of the project that may execute statements.

    Raises ProblemsError where there is no such macro, or Spark does not start: nothing has run then.
    """
    name = _macro_name(prepared, macro)
    with driving(prepared, events, source) as running, running.session() as session:
        statements = Statements(session, Catalog(running.table_format), prepared.on_log)
        try:
            returned = prepared.compiler.operate(name, arguments, statements, attacher(prepared, statements))
        except ProblemsError as error:
            return OperationResult(name, statements.count, problems=tuple(error.problems))
        return OperationResult(name, statements.count, returned)


def _macro_name(prepared: Prepared, macro: str) -> str:
    """Return the name of a macro that may be written with the project's name. Raises ProblemsError for another."""
    name = macro.removeprefix(f"{prepared.files.settings.name}.")
    if prepared.templates.has_macro(name):
        return name
    names = [macro_of_project.name for macro_of_project in prepared.templates.macros()]
    hint = did_you_mean(name, names) or "write {% macro name(…) %} … {% endmacro %} in a folder of `macro-paths`"
    raise ProblemsError([Problem("unknown-macro", f'the project has no macro "{macro}"', hint=hint)])
