"""`merge-runner parse`."""

from __future__ import annotations

from merge_runner.cli.command import command as make
from merge_runner.cli.display.messages import counted, say
from merge_runner.cli.display.problems import show_no_effect, show_not_read
from merge_runner.cli.loading import load_project
from merge_runner.options.project import ProjectOptions


@make("parse", ProjectOptions)
def command(options: ProjectOptions) -> int:
    """Check the project and write target/manifest.json, without compiling the models or starting Spark."""
    project = load_project(options)
    show_not_read(project.prepared.files.not_read, options)
    project.check()
    show_no_effect(project.graph, project.graph.nodes, options)
    manifest = project.write_manifest()
    if not options.quiet:
        say(f"{counted(len(project.graph.nodes), 'node')}; manifest in {manifest}")
    return 0
