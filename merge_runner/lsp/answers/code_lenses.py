"""Commands above a model and above a unit test, which the client runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from merge_runner.graph.graph import ModelNode
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.documents.remark import Diagnosis
from merge_runner.lsp.syntax.outline import yaml_outline
from merge_runner.lsp.syntax.statements import statements
from merge_runner.text import SourceText, Span


@dataclass(frozen=True)
class CodeLens:
    """A command at a range: its name in the client, and the arguments that the command line takes for it.

    A view of a MERGE outside of models has none: only an editor shows it.
    """

    span: Span
    title: str
    command: str
    arguments: tuple[str, ...]


def code_lenses(project: ProjectIndex, path: str, text: str) -> list[CodeLens]:
    """Return the commands of a document: of a model to build, explain and compile it, of YAML to run its unit tests."""
    if path.endswith((".yml", ".yaml")):
        tests = yaml_outline(text).get("unit_tests")
        names = [test.get("name") for test in tests.children] if tests is not None else []
        run = [
            CodeLens(name.value_span, "run this unit test", "merge-runner.test", ("test", "--select", name.value))
            for name in names
            if name is not None and name.value
        ]
        return [*_described_lenses(project, text), *run]
    node = project.model_at(path)
    if node is None:
        return []
    merge = statements(text).merge
    span = Span(merge.span.start, merge.span.start + len("merge")) if merge is not None else Span(0, 0)
    return [CodeLens(span, title, f"merge-runner.{arguments[0]}", arguments) for title, arguments in _node_lenses(node)]


def _described_lenses(project: ProjectIndex, text: str) -> Iterator[CodeLens]:
    """Yield what is done with the models that YAML describes; a view of one is asked for in its own file."""
    models = yaml_outline(text).get("models")
    for name in [model.get("name") for model in models.children] if models is not None else []:
        node = project.refs.get(name.value) if name is not None else None
        if name is not None and isinstance(node, ModelNode) and node.materialized != "ephemeral":
            for command in ("build", "explain"):
                arguments = (command, "--select", node.name)
                yield CodeLens(name.value_span, command, f"merge-runner.{command}", arguments)


def plain_lenses(text: str, diagnosis: Diagnosis, file: str) -> list[CodeLens]:
    """Return the commands above the MERGEs of a text that is no model: two views, and to lint the file."""
    lenses = []
    for merge in diagnosis.merges:
        at = SourceText("", text).offset(merge.line, merge.column)
        for title, command in (("show compiled", "compile"), ("lineage", "lineage"), ("lint", "lint")):
            arguments = ("lint", file) if command == "lint" else ()
            lenses.append(CodeLens(Span(at, at), title, f"merge-runner.{command}", arguments))
    return lenses


def _node_lenses(node: ModelNode) -> Sequence[tuple[str, tuple[str, ...]]]:
    views = [("show compiled", ("compile", "--select", node.name))]
    if node.materialized == "ephemeral":
        return views
    commands = [("build", ("build", "--select", node.name)), ("explain", ("explain", "--select", node.name))]
    return [*commands, *views, ("lineage", ("lineage", node.name))]
