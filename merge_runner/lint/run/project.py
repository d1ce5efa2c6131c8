"""Lints the models of a project, and the hooks of its seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from merge_runner.errors import Problem, ProblemsError
from merge_runner.graph.captures import DEFERRED
from merge_runner.graph.graph import Graph, ModelNode, RefNode
from merge_runner.graph.invocation import Invocation
from merge_runner.graph.order import near_parents
from merge_runner.lint.check import CheckResult, check_file, check_project, linted_merge
from merge_runner.lint.context import LintedFile, LintedMerge, LintedProject
from merge_runner.lint.finding import Finding
from merge_runner.lint.report import NotJudged
from merge_runner.lint.run.hook_files import hook_file, hooks_of
from merge_runner.lint.run.renderings import RUNS, Text, merged
from merge_runner.lint.selection import RuleSelection
from merge_runner.merge.parse import parse
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.query_span import no_query
from merge_runner.plan.layout.answers import node_read
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.load.compiler import Compiler
from merge_runner.plan.load.project_context import Prepared
from merge_runner.project.syntax.environment import also_asked, asked_of
from merge_runner.pruning.predicate.variables import declared_variables
from merge_runner.pruning.query.target_view import target_layout
from merge_runner.template.outcome import ASKS_ENGINE
from merge_runner.template.rendered import Rendered
from merge_runner.text import Place, SourceText


class ProjectLinter:
    """Looks at the models and seeds of one project, each when it is asked for."""

    def __init__(self, prepared: Prepared, layouts: Layouts, selection: RuleSelection) -> None:
        self._prepared = prepared
        self._selection = selection
        self._compiler = prepared.compiler
        self._layouts = layouts
        self._compilers = {run: self._compiler_of(run.invocation(prepared.invocation)) for run in RUNS}

    def arranged(self, unique_ids: Sequence[str]) -> Sequence[str]:
        """Return the models each near to one that it reads, whose text says much about its table."""
        return near_parents(self._prepared.graph.dag, unique_ids)

    def forget(self) -> None:
        """Leave all that can be made again: of 10,000 models it has a hundred MB in each process."""
        self._layouts.forget()
        for compiler in self._compilers.values():
            compiler.forget()

    def learned(self) -> Mapping[str, str | None]:
        """Return the environment variables that were asked for, whose values no other process may know of."""
        return asked_of(self._prepared.invocation.env)

    def learn(self, asked: Mapping[str, str | None]) -> None:
        """Take what `learned` returned in another process."""
        also_asked(self._prepared.invocation.env, asked)

    def check(self, unique_id: str) -> CheckResult:
        """Return the findings in a model and the verdict on its MERGE; of a seed, those in its hooks.

        What differs between the kinds of runs is looked at in each of them; the verdict is that of the invocation at
        hand.
        """
        with self._prepared.reads.collected() as reads:
            checked = self._check(unique_id)
        return replace(checked, reads=frozenset(reads))

    def _check(self, unique_id: str) -> CheckResult:
        node = self._prepared.graph.nodes[unique_id]
        assert isinstance(node, RefNode)
        own = CheckResult(())
        if isinstance(node, ModelNode):
            own = self._in_all_runs(node, partial(self._file, node))
        hooks = [
            self._in_all_runs(node, partial(hook_file, self._prepared.files, node, each)) for each in hooks_of(node)
        ]
        # A hook is at one place, the entry of the config: there is no place in it that a fix could change.
        found = [replace(finding, fix=None) for checked in hooks for finding in checked.findings]
        return CheckResult(
            (*own.findings, *found),
            own.merge,
            tuple(checked.merge for checked in hooks if checked.merge is not None),
            own.not_judged,
        )

    def _in_all_runs(self, node: RefNode, file_of: Callable[[Compiler], LintedFile | None]) -> CheckResult:
        """The outcome for a text of a model or seed; None: it is not in this kind of run."""
        if isinstance(node, ModelNode) and not node.differs_by_run:
            return self._checked(file_of(self._compiler))
        found: dict[object, Text] = {}
        verdict = None
        not_judged: tuple[NotJudged, ...] = ()
        for run in RUNS:
            compiler = self._compilers[run]
            file = file_of(compiler)
            if file is not None and any(problem.code == DEFERRED for problem in file.problems):
                continue  # the author's own error, which is raised where a node is about to run so
            text = file.rendered.text if file is not None and file.rendered is not None else object()
            if text not in found or compiler is self._compiler:
                checked = self._checked(file)
                found.setdefault(text, Text([], checked.findings))
                if compiler is self._compiler:
                    verdict = checked.merge
                not_judged = not_judged or checked.not_judged
            found[text].runs.append(run)
        if not found:  # it raises an error in every run
            return self._checked(file_of(self._compiler))
        return CheckResult(merged(list(found.values())), verdict, not_judged=not_judged)

    def check_project(self, unique_ids: Sequence[str]) -> list[Finding]:
        """Return the findings in what the models have to do with each other."""
        return list(check_project(self._project(self._prepared.graph, unique_ids), self._selection))

    def _project(self, graph: Graph, unique_ids: Sequence[str]) -> LintedProject:
        return LintedProject(self._prepared.files, graph, _Merges(self, unique_ids), frozenset(unique_ids))

    def merge(self, unique_id: str) -> LintedMerge | None:
        """The MERGE of a model; None where it has none that parses."""
        return self._merge(_parsed(self._file(self._prepared.graph.model(unique_id), self._compiler)))

    def _merge(self, file: LintedFile) -> LintedMerge | None:
        statement, node = file.statement, file.node
        if statement is None:
            return None
        if node is None:  # a hook's
            layout = target_layout(statement.target.parts, self._layouts.lookup)
            return linted_merge(file, statement, layout, self._layouts.lookup)
        file = replace(file, variables=declared_variables(node.config.pre_hook))
        return linted_merge(file, statement, self._layouts.target(node.unique_id), self._layouts.lookup)

    def _checked(self, file: LintedFile | None) -> CheckResult:
        if file is None:
            return CheckResult(())
        if any(problem.code == ASKS_ENGINE for problem in file.problems):
            return _not_judged(file)
        file = _parsed(file)
        merge = self._merge(file)
        checked = check_file(file, merge, self._selection)
        if merge is not None:
            merge.scope.forget()
        return checked

    def _compiler_of(self, invocation: Invocation) -> Compiler:
        if invocation == self._prepared.invocation:
            return self._compiler
        return replace(self._prepared, invocation=invocation).compiler

    def _file(self, node: ModelNode, compiler: Compiler) -> LintedFile:
        """A model as it renders in a kind of run, not parsed yet."""
        model = self._prepared.files.models[node.name]
        source = model.source
        rendered: Rendered | None = None
        problems: tuple[Problem, ...] = ()
        try:
            self._prepared.reads.note([node_read(node)])
            rendered = compiler.rendered(node.unique_id)
        except ProblemsError as error:
            problems = error.problems
        return LintedFile(
            SourceText(source.path, source.text),
            node,
            rendered,
            node.name,
            problems=problems,
            is_merge=node.materialized == "merge",
            profile=self._prepared.files.profile,
            platform=self._prepared.files.profile.platform,
            line=self._prepared.files.profile.line,
            conf={**self._prepared.files.profile.conf, **node.config.conf},
            layers=model.layers,
            scan=node.config.scan,
        )


def _not_judged(file: LintedFile) -> CheckResult:
    """The outcome for a text that depends on what a query returns: with what it would be, nothing is said of it."""
    if not file.is_merge:
        return CheckResult(())
    first = next(problem for problem in file.problems if problem.code == ASKS_ENGINE)
    place = first.place or Place(file.path, 1, 1)
    return CheckResult((), not_judged=(NotJudged(file.name, place, (), first.message, first.hint, "model"),))


def _parsed(file: LintedFile) -> LintedFile:
    """Return a rendered file with the MERGE in it, or with what is wrong with its text."""
    if file.rendered is None:
        return file
    text = file.rendered.text
    try:
        return replace(file, statement=parse(text)) if file.is_merge else replace(file, error=no_query(text))
    except MergeSyntaxError as error:
        return replace(file, error=error)


class _Merges(Mapping[str, LintedMerge]):
    """The merges of a project by node id, made when they are asked for."""

    def __init__(self, linter: ProjectLinter, unique_ids: Sequence[str]) -> None:
        self._linter = linter
        self._ids = unique_ids

    def __getitem__(self, unique_id: str) -> LintedMerge:
        merge = self._linter.merge(unique_id)
        if merge is None:
            raise KeyError(unique_id)
        return merge

    def __iter__(self) -> Iterator[str]:
        return (unique_id for unique_id in self._ids if self._linter.merge(unique_id) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)
