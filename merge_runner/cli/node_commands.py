"""What `build`, `run`, `seed`, `test`, `optimize` and `retry` have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from merge_runner.api import LintError
from merge_runner.atomic import write_atomic
from merge_runner.cli.display.dbt_display import DbtDisplay
from merge_runner.cli.display.display import Display, JsonDisplay, TextDisplay
from merge_runner.cli.display.messages import counted, say
from merge_runner.cli.display.problems import show_no_effect, show_not_read, show_problems, show_warnings
from merge_runner.cli.host import current_host
from merge_runner.cli.loading import check_defer, load_project, selected, with_default_selector
from merge_runner.cli.run_pages import show_run
from merge_runner.errors import Problem
from merge_runner.options.nodes import NodeOptions, OptionConflictError
from merge_runner.options.output import OutputOptions
from merge_runner.run.results.junit import junit
from merge_runner.run.results.results import TYPES, Command

if TYPE_CHECKING:
    from merge_runner.api.project import Project
    from merge_runner.graph.graph import Graph
    from merge_runner.graph.selection.select import Selection
    from merge_runner.run.results.previous_run import LastInvocation
    from merge_runner.run.results.results import RunResults


def chosen_nodes(name: Command, options: NodeOptions) -> tuple[Project, Selection, NodeOptions]:
    """Load the project and return it with the nodes that the options select, and the options, selector included.

    What the options leave out or do not affect is shown.
    """
    project = load_project(options, secrets=True)
    if name == "build":
        show_not_read(project.prepared.files.not_read, options)
    options = with_default_selector(project, options)
    selection = selected(project, options)
    if name in ("build", "run", "seed", "test"):
        show_no_effect(project.graph, selection.ids, options)
    show_warnings(_nodes_passed_over(name, project, selection.ids), as_errors=options.warn_error)
    return project, selection, options


_RUN_BY = {
    "model": "`merge-runner build` runs models and their tests",
    "seed": "`merge-runner seed` loads seeds; `merge-runner build` does, with the models",
    "source": "a source is read: `source:NAME+` selects what reads it",
    "test": "`merge-runner test` runs data tests",
    "unit_test": "`merge-runner test` runs unit tests",
    "exposure": "an exposure is outside of the project: `+exposure:NAME` selects what it reads",
    "analysis": "an analysis is compiled and never built: `merge-runner show -s NAME` runs its query",
}
"""What to use for a node of each resource type that the command does not run."""


def _nodes_passed_over(name: Command, project: Project, ids: Sequence[str]) -> Iterator[Problem]:
    """Yield a warning where the command runs none of the selected nodes."""
    kinds = Counter(project.graph.nodes[node].resource_type for node in ids)
    if kinds and kinds.keys().isdisjoint(TYPES[name]):
        kinds_selected = ", ".join(counted(count, kind.replace("_", " ")) for kind, count in sorted(kinds.items()))
        message = f"`{name}` runs none of the selected nodes: {kinds_selected}"
        yield Problem("nothing-selected", message, hint="; ".join(_RUN_BY[kind] for kind in sorted(kinds)))


def run_nodes(
    name: Command, project: Project, selection: Selection, options: NodeOptions, last: LastInvocation | None = None
) -> int:
    """Run these nodes; the exit status is 1 where something failed, or warned under --warn-error.

    `last` is the invocation that they are left over from.
    """
    check_defer(options, options.state)
    host = current_host()
    host.permit(name, project, selection)
    display = display_for(options, project.graph)
    try:
        results = project.invoke(name, options, selection, last=last, on_event=display, on_driver=display.observe)
    except OptionConflictError as conflict:
        raise click.UsageError(str(conflict)) from conflict
    except LintError as error:
        _show_refused(error)
        return 1
    finally:
        display.close()
    host.on_results(results)
    if options.junit is not None:
        write_atomic(options.junit, junit(results, project.graph.nodes))
    show_run(project.prepared.target_path, options)
    return exit_status(results, options)


def _show_refused(error: LintError) -> None:
    refused = error.refused
    show_problems(
        [Problem(f"{finding.code} {finding.name}", finding.message, finding.place, finding.hint) for finding in refused]
    )
    say(
        f"{counted(len(refused), 'finding')} of lint, and nothing has run: `merge-runner lint` shows them in full, "
        "`build --no-lint` builds nevertheless",
        "error",
    )


def exit_status(results: RunResults, options: OutputOptions) -> int:
    """1 where something failed, or warned under --warn-error, else 0."""
    warned = any(result.warnings or result.status == "warn" for result in results.results)
    return 0 if results.ok and not (warned and options.warn_error) else 1


def display_for(options: OutputOptions, graph: Graph) -> Display:
    """What shows a run of nodes of a graph as the options ask for it."""
    if options.log_format == "dbt-json":
        return DbtDisplay(graph, options.quiet)
    if options.log_format == "json":
        return JsonDisplay(options.quiet)
    return TextDisplay(options.quiet, options.debug)
