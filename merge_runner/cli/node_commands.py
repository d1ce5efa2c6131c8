"""What `build`, `run`, `test`, `optimize` and `retry` have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from merge_runner.atomic import write_atomic
from merge_runner.cli.display.display import JsonDisplay, TextDisplay
from merge_runner.cli.display.messages import counted, say
from merge_runner.cli.display.problems import show_no_effect, show_not_read, show_problems, show_warnings
from merge_runner.cli.loading import deferred, load_project, selected, with_default_selector
from merge_runner.errors import Problem
from merge_runner.options.kept import kept
from merge_runner.options.nodes import NodeOptions
from merge_runner.options.output import OutputOptions
from merge_runner.plan.nodes.maintenance import Maintenance
from merge_runner.run.build import TYPES, build
from merge_runner.run.execution.driver_scope import starting_driver
from merge_runner.run.results.events import Events
from merge_runner.run.results.junit import junit
from merge_runner.run.results.results import Command
from merge_runner.run.settings import RunSettings

if TYPE_CHECKING:
    from merge_runner.api import Project
    from merge_runner.run.results.previous_run import LastInvocation
    from merge_runner.run.results.results import RunResults


def _passes_lint(project: Project, ids: Sequence[str], options: NodeOptions) -> bool:
    """Return whether lint finds no error in the models; write its findings to standard error."""
    from merge_runner.lint.run.lint_project import lint_project

    report = lint_project(project.prepared, ids)
    grave = ("error", "warning") if options.warn_error else ("error",)
    found = [finding for finding in report.findings if finding.severity in grave]
    if found:
        show_problems([Problem(f"{each.code} {each.name}", each.message, each.place, each.hint) for each in found])
        say(
            f"{counted(len(found), 'finding')} of lint, and nothing has run: `merge-runner lint` shows them in full, "
            "`build --no-lint` builds nevertheless",
            "error",
        )
    return not found


def run_command(name: Command, options: NodeOptions) -> int:
    """Runs the selected nodes; the exit status is 1 where something failed, or warned under --warn-error."""
    project = load_project(options)
    if name == "build":
        show_not_read(project.prepared.files, options)
    options = with_default_selector(project, options)
    ids = selected(project, options)
    if name in ("build", "run", "test"):
        show_no_effect(project.graph, ids, options)
    show_warnings(_passed_over(name, project, ids), as_errors=options.warn_error)
    return run_nodes(name, project, ids, options)


_RUN_BY = {
    "model": "`merge-runner build` runs models and their tests",
    "seed": "`merge-runner build` loads seeds",
    "source": "a source is read: `source:NAME+` selects what reads it",
    "test": "`merge-runner test` runs data tests",
    "unit_test": "`merge-runner test` runs unit tests",
}
"""What to use for a node of each resource type that the command does not run."""


def _passed_over(name: Command, project: Project, ids: Sequence[str]) -> Iterator[Problem]:
    """Yield a warning where the command runs none of the selected nodes."""
    kinds = Counter(project.graph.nodes[node].resource_type for node in ids)
    if kinds and kinds.keys().isdisjoint(TYPES[name]):
        held = ", ".join(counted(count, kind.replace("_", " ")) for kind, count in sorted(kinds.items()))
        message = f"`{name}` runs none of the selected nodes: {held}"
        yield Problem("nothing-selected", message, hint="; ".join(_RUN_BY[kind] for kind in sorted(kinds)))


def run_nodes(
    name: Command, project: Project, ids: tuple[str, ...], options: NodeOptions, last: LastInvocation | None = None
) -> int:
    """Runs these nodes as `run_command` does; `last` is the invocation that they are left over from."""
    # A left-over node reads what the previous invocation has built, and not the other target.
    chosen = ids if last is None or not options.defer else (*ids, *_selected_before(project, options))
    project = deferred(project, chosen, options.defer, options.state)
    display = display_for(options)
    args = kept(options)
    settings = RunSettings(
        threads=options.threads,
        batch_id=options.batch_id,
        branch=options.branch,
        fail_fast=options.fail_fast,
        maintenance=Maintenance(options.vacuum, options.retain),
        args=args if last is None else {**args, "retried": list(last.retried)},
        begun=dict.fromkeys(last.begun, last.retried) if last is not None else {},
        made=_made_before(project, ids, options) if last is not None else (),
    )
    events = Events(display, observe=display.observe)
    try:
        with starting_driver(project.prepared, events) as starting:
            if ids:
                starting.launch()  # the JVM comes up while the project is looked at
            if name == "build" and not options.no_lint and not _passes_lint(project, ids, options):
                return 1
            starting.proceed()  # lint uses processes only where there is no thread that they could not have
            results = build(project.prepared, ids, name, settings, events, starting=starting)
    finally:
        display.close()
    if options.junit is not None:
        write_atomic(options.junit, junit(results, project.prepared.graph.nodes))
    return exit_status(results, options)


def exit_status(results: RunResults, options: OutputOptions) -> int:
    """1 where something failed, or warned under --warn-error, else 0."""
    warned = any(result.warnings or result.status == "warn" for result in results.results)
    return 0 if results.ok and not (warned and options.warn_error) else 1


def display_for(options: OutputOptions) -> JsonDisplay | TextDisplay:
    """What shows a run as the options of `output_options` ask for it."""
    if options.log_format == "json":
        return JsonDisplay(options.quiet)
    return TextDisplay(options.quiet, options.debug)


def _made_before(project: Project, ids: tuple[str, ...], options: NodeOptions) -> tuple[str, ...]:
    """Return the tables that a full refresh has recreated by nodes that are not left over: those keep their rows."""
    if not options.full_refresh:
        return ()
    done = set(_selected_before(project, options)).difference(ids)
    relations = (project.graph.nodes[node].relation for node in done)
    return tuple(relation.name for relation in relations if relation is not None)


def _selected_before(project: Project, options: NodeOptions) -> tuple[str, ...]:
    return project.select(options.select, options.exclude, options.selector, options.state).ids
