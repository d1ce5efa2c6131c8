"""Lints the models of a project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from merge_runner.errors import ProblemsError
from merge_runner.lint.check import Checked, check_file, check_project, linted_merge
from merge_runner.lint.finding import Finding
from merge_runner.lint.selection import RuleSelection
from merge_runner.lint.subject import LintedFile, LintedMerge, LintedProject
from merge_runner.merge.error import MergeSyntaxError
from merge_runner.plan.compiler import Compiler
from merge_runner.plan.layouts import Layouts
from merge_runner.plan.prepare import Prepared
from merge_runner.text import SourceText


class ProjectLinter:
    """Looks at the models of one project, each when it is asked for."""

    def __init__(self, prepared: Prepared, layouts: Layouts, selection: RuleSelection) -> None:
        self._prepared = prepared
        self._selection = selection
        self._compiler = prepared.compiler
        self._layouts = layouts
        other = replace(prepared.invocation, full_refresh=not prepared.invocation.full_refresh)
        self._other = replace(prepared, invocation=other).compiler
        self._branches = any("is_full_refresh" in source.text for source in prepared.files.macros)

    @property
    def env(self) -> Mapping[str, str]:
        """The environment that templates ask."""
        return self._prepared.invocation.env

    def check(self, unique_id: str) -> Checked:
        """Findings in a model and the verdict on its MERGE.

        What differs between a full refresh and an ordinary run is looked at both ways; the verdict is that of the
        invocation at hand.
        """
        file = self._file(unique_id, self._compiler)
        checked = check_file(file, self._merge(file), self._selection)
        node = self._prepared.graph.nodes[unique_id]
        if "is_full_refresh" not in node.raw_code and not (self._branches and node.macros):
            return checked
        other = self._file(unique_id, self._other)
        if other.rendered is not None and file.rendered is not None and other.rendered.text == file.rendered.text:
            return checked
        findings = check_file(other, self._merge(other), self._selection).findings
        return Checked(tuple(dict.fromkeys((*checked.findings, *findings))), checked.merge)

    def check_project(self, unique_ids: Sequence[str]) -> Iterator[Finding]:
        """Findings in what the models have to do with each other."""
        project = LintedProject(self._prepared.files, self._prepared.graph, _Merges(self, unique_ids))
        return check_project(project, self._selection)

    def merge(self, unique_id: str) -> LintedMerge | None:
        """The MERGE of a model; None where it has none that parses."""
        return self._merge(self._file(unique_id, self._compiler))

    def _merge(self, file: LintedFile) -> LintedMerge | None:
        if file.statement is None or file.node is None:
            return None
        return linted_merge(file, file.statement, self._layouts.target(file.node.unique_id), self._layouts.lookup)

    def _file(self, unique_id: str, compiler: Compiler) -> LintedFile:
        node = self._prepared.graph.nodes[unique_id]
        source = self._prepared.files.models[node.name].source
        file = LintedFile(
            SourceText(source.path, source.text),
            node,
            None,
            node.name,
            is_merge=node.config["materialized"] == "merge",
            full_refresh=compiler is not self._compiler,
            platform=self._prepared.files.profile.platform,
            conf={**self._prepared.files.profile.conf, **(node.config.get("conf") or {})},
        )
        try:
            file = replace(file, rendered=compiler.rendered(unique_id))
            return replace(file, statement=compiler.parsed(unique_id)) if file.is_merge else file
        except ProblemsError as error:
            return replace(file, problems=error.problems)
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
