"""The comment of a pull request: what its branch changes, as Markdown for GitHub and GitLab.

Whatever comes from the project or its tables is code in a line or in a block: so it can be no mention, link or HTML.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from merge_runner.ci_comment import marker
from merge_runner.comparison.report import DiffReport, Example, FailedComparison, TableDifference, summary
from merge_runner.engine.compare import SENSITIVE
from merge_runner.graph.selection.state import Change
from merge_runner.lineage.changed_columns import Columns
from merge_runner.lint.finding import Finding
from merge_runner.markdown import block, code
from merge_runner.run.diff.branch_changes import BranchChanges, NodeChange

MOST_BYTES = 65_000
"""GitHub takes 65,536 characters; in bytes of UTF-8 no way of counting them gives more."""
_NOTE_BYTES = 500
"""Room for what is said of the parts that do not fit."""
_FEW = 20
"""Names that a line has at most."""
_WIDTH = 150
"""Columns of a table with rows."""

_SHOWN: frozenset[Change] = frozenset({"new", "configs", "relation", "contract"})
"""Changes that are differences, whatever the rows are."""

_CHANGES: Mapping[Change, str] = {
    "new": "new",
    "body": "text",
    "configs": "config",
    "relation": "name of the table",
    "macros": "macros",
    "contract": "declared columns",
    "location": "folder",
}


@dataclass(frozen=True)
class _Section:
    """A part of the comment; `details` are folded, and left out before any `head` is."""

    head: str
    details: str = ""


def comment(changes: BranchChanges, rows: DiffReport | None = None, shown: Callable[[str], str] = str) -> str:
    """Return the comment, of `MOST_BYTES` at most; `rows` are the comparisons of tables, None: none was compared.

    `shown` returns a text of the project as it may be shown, without secrets and controls. That is before it becomes
    code: what is taken out of Markdown may be what holds a text.
    """
    return _Comment(changes, rows, shown).text()


@dataclass(frozen=True)
class _Comment:
    """What a comment is about, and how texts of the project may be shown."""

    changes: BranchChanges
    rows: DiffReport | None
    shown: Callable[[str], str]

    def text(self) -> str:
        """Return the comment."""
        changes, models = self.changes, self.rows.models if self.rows is not None else ()
        tables = {
            model.model: _without_values(model, changes.sensitive)
            for model in models
            if isinstance(model, TableDifference)
        }
        by_name = {node.name: node for node in changes.nodes}
        nodes = [by_name.get(name, NodeChange(name)) for name in dict.fromkeys((*by_name, *tables))]
        different = [node for node in nodes if _is_different(node, tables.get(node.name))]
        quiet = [node for node in changes.nodes if node not in different]
        sections = [
            _Section(self._title(different, quiet)),
            *(self._section(node, tables.get(node.name)) for node in different),
            *self._of_project(quiet if different or changes.removed or changes.findings else ()),
            *self._not_compared([model for model in models if isinstance(model, FailedComparison)]),
        ]
        return "\n\n".join(_fitting(sections, MOST_BYTES)) + "\n"

    def _title(self, different: Sequence[NodeChange], quiet: Sequence[NodeChange]) -> str:
        findings = len(self.changes.findings) + sum(len(node.findings) for node in different)
        counts = ((len(different), "model"), (len(self.changes.removed), "removed model"), (findings, "new finding"))
        parts = [_counted(count, words) for count, words in counts if count]
        if parts:
            text = f"### merge-runner: differences in {', '.join(parts)}"
        elif quiet:
            text = f"**merge-runner**: no difference that can be seen. Changed: {self._with_kinds(quiet)}."
        else:
            text = "**merge-runner**: this branch changes no model."
        return f"{marker(self.changes.project)}\n{text}"

    def _section(self, node: NodeChange, table: TableDifference | None) -> _Section:
        what = f" ({_kinds(node)})" if node.changes else ""
        lines = list(self._verdict(node))
        if table is None or not table.equal:
            if node.columns is None and "new" not in node.changes:
                lines.append("- its rows, or all of its columns, may change")
            elif node.columns:
                lines.append(f"- changed columns: {self._names(sorted(node.columns))}")
            if node.reaches:
                reached = [
                    f"{self._code(name)} ({self._column_names(columns)})" for name, columns in node.reaches.items()
                ]
                lines.append(f"- reaches {_listed(reached)}")
        if table is not None:
            lines.append(f"- rows: {self._code(summary(table))}")
        if node.cost is not None:
            lines.append(f"- last run in this target, {node.cost}")
        details = self._folded_findings(node.findings)
        if table is not None and not table.equal:
            details += self._folded("Rows", DiffReport((table,)).lines(_WIDTH))
        head = "\n".join([f"#### {self._code(node.name)}{what}", *(["", *lines] if lines else ())])
        return _Section(head, details)

    def _verdict(self, node: NodeChange) -> Iterator[str]:
        before, after = (", ".join(verdicts) or "no MERGE" for verdicts in (node.before, node.after))
        if before == after:
            yield from [f"- verdict: {after}, as before"] if node.after else []
        elif "new" in node.changes:
            yield f"- verdict: {after}: {self._code(node.reason)}"
        else:
            yield f"- verdict: {before} → **{after}**" + (f": {self._code(node.reason)}" if node.after else "")

    def _of_project(self, quiet: Sequence[NodeChange]) -> Iterator[_Section]:
        if self.changes.findings:
            yield _Section("#### The project", self._folded_findings(self.changes.findings))
        if quiet:
            yield _Section(f"Changed without a difference: {self._with_kinds(quiet)}.")
        if self.changes.removed:
            yield _Section(f"Removed: {self._names(self.changes.removed)}.")

    def _not_compared(self, models: Sequence[FailedComparison]) -> Iterator[_Section]:
        if models:  # an engine's message may have values of rows: the log has it
            names = self._names(model.model for model in models)
            yield _Section(f"Rows not compared, for which the log of the job says why: {names}.")

    def _folded_findings(self, findings: Sequence[Finding]) -> str:
        lines = (f"{finding.place}: {finding.code} {finding.severity} {finding.message}" for finding in findings)
        return self._folded(_counted(len(findings), "new finding"), lines, " open") if findings else ""

    def _folded(self, title: str, lines: Iterable[str], state: str = "") -> str:
        text = "\n".join(self._block(lines))
        return f"\n\n<details{state}><summary>{title}</summary>\n\n{text}\n\n</details>"

    def _with_kinds(self, nodes: Sequence[NodeChange]) -> str:
        return _listed([f"{self._code(node.name)} ({_kinds(node)})" for node in nodes])

    def _column_names(self, columns: Columns) -> str:
        return "all columns" if columns is None else self._names(sorted(columns))

    def _names(self, names: Iterable[str]) -> str:
        return _listed([self._code(name) for name in names])

    def _code(self, text: str) -> str:
        return code(self.shown(text))

    def _block(self, lines: Iterable[str]) -> Iterator[str]:
        return block(map(self.shown, lines))


def _without_values(table: TableDifference, columns: Collection[str]) -> TableDifference:
    """Return a comparison whose examples show no value of some columns, whose names are case folded."""

    def shown(values: Mapping[str, Any]) -> Mapping[str, Any]:
        return {name: SENSITIVE if name.casefold() in columns else value for name, value in values.items()}

    examples = (Example(row.kind, shown(row.key), shown(row.left), shown(row.right)) for row in table.examples)
    return replace(table, examples=tuple(examples))


def _is_different(node: NodeChange, table: TableDifference | None) -> bool:
    """Whether there is something to show: columns that may change do not count where the rows are equal."""
    if node.findings or node.before != node.after or node.changes & _SHOWN:
        return True
    return bool(node.columns is None or node.columns or node.reaches) if table is None else not table.equal


def _fitting(sections: Sequence[_Section], size: int) -> Iterator[str]:
    """Yield the sections that fit into so many bytes, their details where these do, and what is left out."""
    size -= _NOTE_BYTES
    heads: list[str] = []
    for section in sections:
        size -= _size(section.head)
        if size < 0:
            break
        heads.append(section.head)
    omitted = 0
    for section, head in zip(sections, heads, strict=False):
        fits = _size(section.details) <= max(size, 0)
        size -= _size(section.details) if fits else 0
        omitted += not fits
        yield head + section.details if fits else head
    missing = len(sections) - len(heads)
    if missing or omitted:
        parts = f"{_counted(missing, 'part')}, the details of {omitted:,} more"
        yield f"Left out, as a comment must not be longer: {parts}."


def _size(text: str) -> int:
    """Return the bytes that a text takes with the empty line after it."""
    return len(text.encode()) + 2 if text else 0


def _kinds(node: NodeChange) -> str:
    return ", ".join(words for kind, words in _CHANGES.items() if kind in node.changes)


def _listed(parts: Sequence[str]) -> str:
    more = [f"{len(parts) - _FEW} more"] if len(parts) > _FEW else []
    return ", ".join([*parts[:_FEW], *more])


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
