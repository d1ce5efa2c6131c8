"""The MERGEs of files that are to become models, and the tables that these files describe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.lint.containers.contents import Contents
from merge_runner.lint.containers.placeholders import placeholders_of
from merge_runner.lint.containers.registry import may_describe_tables, may_hold_merge, read_contents
from merge_runner.lint.containers.tables import FileTables, FolderTables, NameScope, file_tables
from merge_runner.lint.run.plain_file import PlainFile
from merge_runner.merge.find import holds_merge
from merge_runner.merge.parse import parse
from merge_runner.merge.statement import MergeStatement
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.plan.layout.layout_file import TableKey
from merge_runner.pruning.predicate.variables import declared_variables
from merge_runner.pruning.query.source import KnownTable
from merge_runner.pruning.query.target_view import target_view
from merge_runner.template.rendered_text import RenderedText
from merge_runner.text import Place


@dataclass(frozen=True)
class MergeToImport:
    """A MERGE with its place. `index` is that of its statement among those of the file, as `tables` counts them.

    `variables` are the names of session variables, case folded, that the file declares before it.
    """

    place: Place
    statement: MergeStatement
    index: int
    scope: NameScope
    tables: FolderTables
    variables: frozenset[str] = frozenset()

    @property
    def target(self) -> tuple[str, ...]:
        """The parts of the name of the table that it writes: that below the view, where it names one."""
        view = target_view(self.statement.target.parts, self.table)
        return view.parts if view is not None else self.statement.target.parts

    def key(self, parts: Iterable[str]) -> TableKey:
        """Return the parts of a name in the statement as they compare, completed by USE."""
        return self.scope.key(parts)

    def table(self, parts: tuple[str, ...]) -> KnownTable | None:
        """Return what the DDL of the files says of a table; None where that is nothing."""
        return self.tables.find(self.place.path, self.index, parts)


def find_merges(files: Iterable[PlainFile]) -> tuple[list[MergeToImport], list[Problem]]:
    """Return the MERGEs of files in the order of their places, and why others cannot be read."""
    problems = Problems()
    contents: dict[str, Contents] = {}
    for file in files:
        if file.source is None:
            problems.add("unreadable", f"{file.path}: {file.problem.message if file.problem else 'cannot be read'}")
        elif may_hold_merge(file.source) or may_describe_tables(file.source):
            try:
                file_contents = read_contents(file.source, lambda source: placeholders_of(RenderedText.plain(source)))
            except (ProblemsError, MergeSyntaxError) as error:
                problems.add("unreadable", f"{file.path}: {error}")
                continue
            contents[file.path] = file_contents
            for unread in file_contents.unread:
                problems.add("not-imported", f"the MERGE is not imported: {unread.reason}", unread.place)
    tables = FolderTables({path: file_tables(in_file.statements) for path, in_file in contents.items()})
    merges = [merge for path, in_file in contents.items() for merge in _parse_merges(path, in_file, tables, problems)]
    return merges, list(problems)


def _parse_merges(path: str, contents: Contents, tables: FolderTables, problems: Problems) -> Sequence[MergeToImport]:
    scopes = tables.files.get(path, FileTables()).scopes
    merges = []
    for index, part in enumerate(contents.statements):
        text = part.rendered.text
        if not holds_merge(text):
            continue
        try:
            statement = parse(text)
        except MergeSyntaxError as error:
            place = part.rendered.place(error.span.start, error.span.end)
            problems.add("not-imported", f"the MERGE is not imported: {error.message}", place, error.hint)
            continue
        scope = scopes[index] if index < len(scopes) else NameScope()
        place = part.rendered.place(statement.span.start)
        if statement.more_clauses:
            problems.add("not-imported", "the MERGE is not imported: which clauses it has depends on the code", place)
            continue
        before = [earlier.rendered.text for earlier in contents.statements[:index]]
        variables = frozenset(name.casefold() for name in declared_variables(before))
        merge = MergeToImport(place, statement, index, scope, tables, variables)
        if (reason := _unwritable(merge)) is not None:
            problems.add("not-imported", f"the MERGE is not imported: {reason}", place, "name the table itself")
            continue
        merges.append(merge)
    return merges


def _unwritable(merge: MergeToImport) -> str | None:
    """Why no model can stand for a MERGE into a view: which table it writes is not known, or no engine runs it."""
    parts = merge.statement.target.parts
    view = target_view(parts, merge.table)
    if view is None or (view.parts and view.fault is None):
        return None
    return f"its target {parts[-1]} {view.fault or 'is a view of what is not known'}"
