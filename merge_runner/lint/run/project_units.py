"""The texts of a project to lint: models and hooks, as they render in a kind of run."""

from __future__ import annotations

from functools import partial

from merge_runner.errors import Problem, ProblemsError
from merge_runner.graph.graph import ModelNode, RefNode
from merge_runner.lint.context import LintedFile, LintedMerge
from merge_runner.lint.run.hook_files import DeclaredHook, hook_file
from merge_runner.lint.unit import LintUnit, without_fix
from merge_runner.plan.layout.answers import node_read
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.load.compiler import Compiler
from merge_runner.plan.load.project_context import Prepared
from merge_runner.pruning.predicate.variables import declared_variables
from merge_runner.template.rendered_text import RenderedText
from merge_runner.text import SourceText


class ProjectUnits:
    """Makes the units of one project."""

    def __init__(self, prepared: Prepared, layouts: Layouts) -> None:
        self._prepared = prepared
        self._layouts = layouts

    def merge(self, unique_id: str) -> LintedMerge | None:
        """Return the MERGE of a model in the run at hand; None where it has none that parses."""
        return self.model(self._prepared.graph.model(unique_id), self._prepared.compiler).merge()

    def model(self, node: ModelNode, compiler: Compiler) -> LintUnit:
        """Return a model as the compiler's kind of run renders it."""
        file = self._file(node, compiler)
        return LintUnit(file, self._layouts.lookup, partial(self._layouts.target, node.unique_id))

    def hook(self, node: RefNode, written: DeclaredHook, compiler: Compiler) -> LintUnit | None:
        """Return a hook of a model or seed; None where it renders to no MERGE in this kind of run.

        A hook is at one place, the entry of the config: there is no place in it that a fix could change.
        """
        file = hook_file(self._prepared.files, node, written, compiler)
        return LintUnit(file, self._layouts.lookup, adapt=without_fix) if file is not None else None

    def _file(self, node: ModelNode, compiler: Compiler) -> LintedFile:
        model = self._prepared.files.models[node.name]
        profile = self._prepared.files.profile
        source = model.source
        rendered: RenderedText | None = None
        problems: tuple[Problem, ...] = ()
        try:
            self._prepared.reads.note([node_read(node)])
            rendered = compiler.render(node.unique_id)
        except ProblemsError as error:
            problems = error.problems
        return LintedFile(
            SourceText(source.path, source.text),
            node,
            rendered,
            node.name,
            problems=problems,
            is_merge=node.materialized == "merge",
            profile=profile,
            platform=profile.platform,
            line=profile.line,
            conf={**profile.conf, **node.config.conf},
            layers=model.layers,
            variables=declared_variables(node.config.pre_hook),
            scan=node.config.scan,
        )
