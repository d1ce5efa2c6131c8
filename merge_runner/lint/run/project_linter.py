"""Lints the models of a project, and the hooks of its seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from merge_runner.graph.captures import DEFERRED
from merge_runner.graph.graph import ModelNode, RefNode
from merge_runner.graph.invocation import Invocation
from merge_runner.graph.order import near_parents
from merge_runner.lint.check import CheckResult, check_project
from merge_runner.lint.context import LintedMerge, LintedProject
from merge_runner.lint.finding import Finding
from merge_runner.lint.report import JudgementGap
from merge_runner.lint.run.hook_files import hooks_of
from merge_runner.lint.run.project_units import ProjectUnits
from merge_runner.lint.run.renderings import RUNS, Text, merge_findings
from merge_runner.lint.selection import RuleSelection
from merge_runner.lint.unit import LintUnit
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.load.compiler import Compiler
from merge_runner.plan.load.project_context import Prepared
from merge_runner.project.syntax.environment import record_reads, recorded_reads


class ProjectLinter:
    """Looks at the models and seeds of one project, each when it is asked for."""

    def __init__(self, prepared: Prepared, layouts: Layouts, selection: RuleSelection) -> None:
        self._prepared = prepared
        self._selection = selection
        self._compiler = prepared.compiler
        self._layouts = layouts
        self._units = ProjectUnits(prepared, layouts)
        self._compilers = {run: self._compiler_of(run.invocation(prepared.invocation)) for run in RUNS}

    def arranged(self, unique_ids: Sequence[str]) -> Sequence[str]:
        """Return the models each near to one that it reads, whose text says much about its table."""
        return near_parents(self._prepared.graph.dag, unique_ids)

    def forget(self) -> None:
        """Leave all that can be made again: of 10,000 models it has a hundred MB in each process."""
        self._layouts.forget()
        for compiler in self._compilers.values():
            compiler.forget()

    def answers(self) -> Mapping[str, str | None]:
        """Return the environment variables that were asked for, whose values no other process may know of."""
        return recorded_reads(self._prepared.invocation.env)

    def learn(self, answers: Mapping[str, str | None]) -> None:
        """Take what `answers` returned in another process."""
        record_reads(self._prepared.invocation.env, answers)

    def check(self, unique_id: str) -> CheckResult:
        """Return the findings in a model and the verdict on its MERGE; of a seed, those in its hooks.

        What differs between the kinds of runs is looked at in each of them; the verdict is that of the invocation at
        hand.
        """
        with self._prepared.reads.collected() as reads:
            result = self._check(unique_id)
        return replace(result, reads=frozenset(reads))

    def _check(self, unique_id: str) -> CheckResult:
        node = self._prepared.graph.nodes[unique_id]
        assert isinstance(node, RefNode)
        own = CheckResult(())
        if isinstance(node, ModelNode):
            own = self._in_all_runs(node, partial(self._units.model, node))
        hooks = [self._in_all_runs(node, partial(self._units.hook, node, written)) for written in hooks_of(node)]
        return CheckResult(
            (*own.findings, *(finding for result in hooks for finding in result.findings)),
            own.merge,
            tuple(result.merge for result in hooks if result.merge is not None),
            own.not_judged,
        )

    def _in_all_runs(self, node: RefNode, unit_in: Callable[[Compiler], LintUnit | None]) -> CheckResult:
        """The outcome for a text of a model or seed; None: it is not in this kind of run."""
        if isinstance(node, ModelNode) and not node.differs_by_run:
            return self._check_unit(unit_in(self._compiler))
        texts: dict[object, Text] = {}
        verdict = None
        not_judged: tuple[JudgementGap, ...] = ()
        for run in RUNS:
            compiler = self._compilers[run]
            unit = unit_in(compiler)
            if unit is not None and any(problem.code == DEFERRED for problem in unit.file.problems):
                continue  # the author's own error, which is raised where a node is about to run so
            rendered = unit.file.rendered if unit is not None else None
            text = rendered.text if rendered is not None else object()
            if text not in texts or compiler is self._compiler:
                result = self._check_unit(unit)
                texts.setdefault(text, Text([], result.findings))
                if compiler is self._compiler:
                    verdict = result.merge
                not_judged = not_judged or result.not_judged
            texts[text].runs.append(run)
        if not texts:  # it raises an error in every run
            return self._check_unit(unit_in(self._compiler))
        return CheckResult(merge_findings(list(texts.values())), verdict, not_judged=not_judged)

    def _check_unit(self, unit: LintUnit | None) -> CheckResult:
        return CheckResult(()) if unit is None else unit.check(self._selection)

    def check_project(self, unique_ids: Sequence[str]) -> list[Finding]:
        """Return the findings in what the models have to do with each other."""
        merges = _Merges(self._units, unique_ids)
        prepared, older_rows = self._prepared, self._layouts.recorded_older_rows
        project = LintedProject(prepared.files, prepared.graph, merges, frozenset(unique_ids), older_rows)
        return list(check_project(project, self._selection))

    def _compiler_of(self, invocation: Invocation) -> Compiler:
        if invocation == self._prepared.invocation:
            return self._compiler
        return replace(self._prepared, invocation=invocation).compiler


class _Merges(Mapping[str, LintedMerge]):
    """The merges of a project by node id, made when they are asked for."""

    def __init__(self, units: ProjectUnits, unique_ids: Sequence[str]) -> None:
        self._units = units
        self._ids = unique_ids

    def __getitem__(self, unique_id: str) -> LintedMerge:
        merge = self._units.merge(unique_id)
        if merge is None:
            raise KeyError(unique_id)
        return merge

    def __iter__(self) -> Iterator[str]:
        return (unique_id for unique_id in self._ids if self._units.merge(unique_id) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)
