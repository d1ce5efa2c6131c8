"""Lints what files hold: each MERGE by itself, with the tables that the files' DDL describes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from merge_runner.errors import ProblemsError
from merge_runner.lint.check import CheckResult, check_file
from merge_runner.lint.containers.contents import Contents, EmbeddedStatement
from merge_runner.lint.containers.foreign_jinja import has_tags_of_others, read_foreign
from merge_runner.lint.containers.placeholders import placeholders_of
from merge_runner.lint.containers.registry import CODE, may_describe_tables, may_hold_merge, read_contents
from merge_runner.lint.containers.tables import FileTables, FolderTables, file_tables
from merge_runner.lint.context import LintedFile
from merge_runner.lint.report import JudgementGap
from merge_runner.lint.run.plain_file import PlainFile
from merge_runner.lint.selection import RuleSelection
from merge_runner.lint.suppress.comments import Comment, embedded
from merge_runner.lint.unit import LintUnit
from merge_runner.merge.script import statements
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.project_file import read_file
from merge_runner.pruning.predicate.scope import Variable
from merge_runner.pruning.predicate.variables import declared_variables
from merge_runner.pruning.query.source import KnownTable, Lookup
from merge_runner.relation import Relation
from merge_runner.template.context import Context
from merge_runner.template.outcome import ASKS_ENGINE
from merge_runner.template.rendered_text import RenderedText
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText, Span

_JINJA = re.compile(r"\{[{%#]")
_BLOCK = re.compile(r"\{%")
_UNREAD_HELP = "write the statement as a text that `….sql(…)` is given, or lint it where it is written"


@dataclass(frozen=True)
class ReadFile:
    """A file with what it holds. `error` and `problems` say why it could not be read."""

    file: PlainFile
    contents: Contents = field(default_factory=Contents)
    tables: FileTables = field(default_factory=FileTables)
    error: LintedFile | None = None


@dataclass(frozen=True)
class ContentsReader:
    """Reads files; Jinja in SQL is rendered with `templates`, `vars` and the environment."""

    templates: Templates
    vars: Mapping[str, Any]
    env: Mapping[str, str]

    def read(self, files: Sequence[PlainFile]) -> list[ReadFile]:
        """Return what the files hold. Those without a MERGE are read for their tables, where another has one."""
        have_merge = [self._holds_merge(file) for file in files]
        if not any(have_merge):
            return [ReadFile(file) for file in files]
        return [
            self.whole(file) if has_merge else self._tables(file)
            for file, has_merge in zip(files, have_merge, strict=True)
        ]

    def _holds_merge(self, file: PlainFile) -> bool:
        if file.source is not None:
            return may_hold_merge(file.source)
        # What is no UTF-8 may be meant for another tool, but for a file of SQL.
        if not file.path.lower().endswith(CODE):
            return True
        try:
            return b"merge into" in read_file(file.file, file.boundary).lower()
        except OSError:
            return True  # what it holds is not known

    def whole(self, file: PlainFile) -> ReadFile:
        """Return what a file holds, also one without a MERGE."""
        source = file.source
        if source is None:
            nothing = SourceText(file.path, "")
            why, hint = (file.problem.message, file.problem.hint) if file.problem else ("cannot be read", None)
            error = MergeSyntaxError(why, Span(0, 0), hint or "lint reads files in UTF-8")
            return ReadFile(file, error=LintedFile(nothing, None, RenderedText.plain(nothing), error=error))
        try:
            contents = read_contents(source, self._render)
        except ProblemsError as error:
            foreign = _of_another_tool(source, error)
            if foreign is None:
                return ReadFile(file, error=LintedFile(source, None, None, problems=error.problems))
            contents = replace(foreign, texts=(source,))
        except MergeSyntaxError as error:
            return ReadFile(file, error=LintedFile(source, None, RenderedText.plain(source), error=error))
        evolves = "schema.autoMerge" in source.text
        return ReadFile(file, contents, file_tables(contents.statements, evolves=evolves))

    def _tables(self, file: PlainFile) -> ReadFile:
        if file.source is None or not may_describe_tables(file.source):
            return ReadFile(file)
        whole = self.whole(file)
        return ReadFile(file, tables=whole.tables)

    def _render(self, source: SourceText) -> RenderedText:
        """The text as Spark gets it: Jinja rendered where its names are known, else as a placeholder."""
        if _JINJA.search(source.text) is None:
            return placeholders_of(RenderedText.plain(source))
        try:
            return placeholders_of(self.templates.render(source, self._context(source)))
        except ProblemsError as error:
            undefined = all(problem.code in _OPEN for problem in error.problems)
            if undefined and _BLOCK.search(source.text) is None:
                return placeholders_of(RenderedText.plain(source))
            raise

    def _context(self, source: SourceText) -> Context:
        """Names stand for themselves: there is no project that knows better."""
        name = Path(source.path).stem
        return Context(
            model_name=name,
            this=Relation(name),
            resolve_ref=Relation,
            resolve_source=lambda source, table: Relation(table, source),
            vars=self.vars,
            env=self.env,
            target={},
            full_refresh=False,
            incremental=True,
        )


_OPEN = frozenset({"undefined-name", "undefined-variable", ASKS_ENGINE})


@dataclass(frozen=True)
class LintedContents:
    """What was found in a file. `texts` are by SourceText.name, `comments` those of SQL in another language."""

    results: tuple[CheckResult, ...] = ()
    texts: Mapping[str, SourceText] = field(default_factory=dict)
    comments: Mapping[str, Sequence[Comment]] = field(default_factory=dict)
    not_judged: tuple[JudgementGap, ...] = ()


@dataclass(frozen=True)
class ContentsLinter:
    """Looks at the MERGEs of files that were read together.

    `outer` finds a table, by the file, that layouts of the command line or of a dbt project know.
    """

    tables: FolderTables
    selection: RuleSelection
    outer: Callable[[PlainFile, tuple[str, ...]], KnownTable | None]

    @classmethod
    def of(
        cls,
        files: Sequence[ReadFile],
        selection: RuleSelection,
        outer: Callable[[PlainFile, tuple[str, ...]], KnownTable | None],
    ) -> ContentsLinter:
        """Return the linter of files that were read."""
        return cls(FolderTables({file.file.path: file.tables for file in files}), selection, outer)

    def lint(self, file_contents: ReadFile) -> LintedContents:
        """Return the findings in a file, and the verdicts on its MERGEs."""
        file, contents = file_contents.file, file_contents.contents
        if file_contents.error is not None:
            texts = {file.path: file.source} if file.source is not None else {}
            return LintedContents((check_file(file_contents.error, None, self.selection),), texts)
        results = tuple(unit.check(self.selection) for unit in self._units(file, contents.statements))
        texts = {text.name: text for text in contents.texts}
        if not file.path.lower().endswith(CODE) and file.source is not None and not contents.texts:
            texts = {file.path: file.source}
        comments: dict[str, list[Comment]] = {}
        embeds: list[tuple[str, RenderedText | SourceText]] = [("sql", rendered) for rendered in contents.sql]
        for language, text in (*embeds, *contents.code):
            for name, comment in embedded(text, language, texts):
                comments.setdefault(name, []).append(comment)
        not_judged = tuple(
            JudgementGap(None, merge.place, (), merge.reason, _UNREAD_HELP, merge.container)
            for merge in contents.unread
        )
        return LintedContents(results, texts, comments, not_judged)

    def _units(self, file: PlainFile, all_statements: Sequence[EmbeddedStatement]) -> Iterator[LintUnit]:
        """Give the statements of a file that are, or are meant as, a MERGE."""
        for index, statement in enumerate(all_statements):
            rendered = statement.rendered
            if any(part.kind != "other" for part in statements(rendered.text)):
                linted = LintedFile(
                    rendered.source,
                    None,
                    rendered,
                    variables=_variables(all_statements[:index], statement),
                    container=statement.container,
                    discarded=statement.discarded,
                )
                yield LintUnit(linted, self._lookup(file, index))

    def _lookup(self, file: PlainFile, index: int) -> Lookup:
        def find(parts: tuple[str, ...]) -> KnownTable | None:
            complete = self.tables.key(file.path, index, parts)
            table = self.outer(file, parts) or (self.outer(file, complete) if complete != parts else None)
            return table or self.tables.find(file.path, index, parts)

        return find


def _of_another_tool(source: SourceText, error: ProblemsError) -> Contents | None:
    """What is read of a file whose Jinja uses names or tags that are not known here; None: its Jinja is wrong."""
    is_open = all(problem.code in _OPEN for problem in error.problems)
    if not is_open and not has_tags_of_others(source.text):
        return None
    return read_foreign(source, error.problems[0].message.partition(" here: ")[0])


def _variables(before: Sequence[EmbeddedStatement], statement: EmbeddedStatement) -> dict[str, Variable]:
    """The variables that a statement sees: what those before it declare, and the rows of the loops around it."""
    variables: dict[str, Variable] = {}
    for earlier in before:
        variables |= declared_variables([earlier.rendered.text], "local" if earlier.in_block else "session")
    return variables | {row.casefold(): Variable(kind="row") for row in statement.rows}
