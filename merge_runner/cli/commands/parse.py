"""`merge-runner parse`."""

from __future__ import annotations

import uuid

from merge_runner.cli.command import command as make
from merge_runner.cli.loading import load_project
from merge_runner.options.project import ProjectOptions


@make("parse", ProjectOptions)
def command(options: ProjectOptions) -> int:
    """Check the project and write target/manifest.json, without compiling the models or starting Spark."""
    from merge_runner.cli.display.messages import counted, say
    from merge_runner.cli.display.problems import show_no_effect, show_not_read
    from merge_runner.plan.load.query import check_queries
    from merge_runner.plan.model_tests.unit_tests import check_unit_tests
    from merge_runner.run.results.artifacts import write_manifest

    project = load_project(options)
    show_not_read(project.prepared.files, options)
    project.prepared.templates.check()
    check_queries(project.graph)
    check_unit_tests(project.prepared)
    show_no_effect(project.graph, project.graph.nodes, options)
    write_manifest(project.prepared, str(uuid.uuid4()))
    if not options.quiet:
        nodes = counted(len(project.graph.nodes), "node")
        say(f"{nodes}; manifest in {project.prepared.target_path / 'manifest.json'}")
    return 0
