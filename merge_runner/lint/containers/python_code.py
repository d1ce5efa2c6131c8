"""MERGEs in Python code: strings that are given to `….sql(…)`, and chains of Delta's and Spark's builders."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace

from merge_runner.lint.containers.budget import OverBudgetError
from merge_runner.lint.containers.call_chain import chain
from merge_runner.lint.containers.contents import (
    NOT_FOLLOWED,
    NOT_PUT_TOGETHER,
    NOT_RUN,
    Contents,
    EmbeddedStatement,
    UnreadMerge,
    has_words,
)
from merge_runner.lint.containers.data_frame import relation
from merge_runner.lint.containers.merge_builder import WHEN, begins_merge, begun_by, built_merge, throws_clause_away
from merge_runner.lint.containers.pieced_text import PiecedText
from merge_runner.lint.containers.placeholders import with_placeholders
from merge_runner.lint.containers.python_scopes import Names, Use
from merge_runner.lint.containers.python_strings import PythonFile
from merge_runner.lint.containers.python_values import Values
from merge_runner.lint.containers.script import unread_in
from merge_runner.lint.containers.unread_text import IN_CODE, merge_in_parts
from merge_runner.merge.find import find_merge
from merge_runner.text import Place, SourceText

_DDL = re.compile(r"(?:create|replace|alter)\s[^'\"]{0,40}\btable", re.IGNORECASE)
_TABLE = re.compile(r"\s*(?:--[^\n]*\n\s*)*(?:CREATE|REPLACE|ALTER)\s[^(]*\bTABLE\b", re.IGNORECASE)
_BEGINS = re.compile(r"\s*MERGE\b", re.IGNORECASE)
_BEGINS_INTO = re.compile(r"\s*MERGE\s+INTO\s+[\w.`]+\s")
_ONLY_BEGINS = re.compile(r"\s*(?:MERGE\s+INTO|merge\s+into)\s+\Z")
_VIEWS = re.compile("create(?:OrReplace)?(Global)?TempView|registerTempTable")
_MAGIC = re.compile(r"^([ \t]*)(?:[%!]|\w+[ \t]*=[ \t]*[%!](?=\w))[^\n]*", re.MULTILINE)
_HELP = re.compile(r"^[ \t]*\??[\w.]+\?{1,2}[ \t]*$", re.MULTILINE)


def read_python(sources: Sequence[SourceText]) -> Contents:
    """Return the statements of a Python file, or of the code cells of one notebook in their order.

    The cells share their names. A source that is not Python, and holds the words of a MERGE, is reported in `unread`.
    """
    if not any(IN_CODE.search(source.text) or _DDL.search(source.text) for source in sources):
        return Contents()
    modules: list[tuple[PythonFile, ast.Module]] = []
    unread: list[UnreadMerge] = []
    for number, source in enumerate(sources):
        try:
            modules.append((PythonFile(source, number), _parse(source)))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            if (merge := IN_CODE.search(source.text)) is not None:
                why = f"this is not Python that lint can read: {_syntax_problem(error)}"
                unread.append(UnreadMerge("python", source.place(*merge.span()), why))
    if not modules:
        return Contents(unread=tuple(unread))
    try:
        reader = _Reader(sources, modules)
        statements = sorted([*reader.views(), *reader.statements()], key=_place_key)
        contents = Contents(tuple(statements), (*unread, *reader.unread()))
        return contents if contents.merges or contents.unread else replace(contents, unread=tuple(reader.parts()))
    except RecursionError:
        why = "the code is nested too deeply for lint"
    except OverBudgetError as error:
        why = f"lint does not follow this code: {error}"
    merge = IN_CODE.search(sources[0].text)
    at = sources[0].place(*merge.span()) if merge is not None else sources[0].place(0, 0)
    return Contents(unread=(*unread, UnreadMerge("python", at, why)))


def _is_statement(text: str) -> bool:
    """Whether a string is a MERGE, or its beginning; text about one is not."""
    begins = _BEGINS.match(text) is not None
    return (
        has_words(text, "USING", "WHEN")
        or (begins and has_words(text, "USING", "ON"))
        or (_BEGINS_INTO.match(text) is not None and re.search(r"\bUSING\b", text) is not None)
        or _ONLY_BEGINS.match(text) is not None
    )


def _parse(source: SourceText) -> ast.Module:
    """The syntax tree; lines of IPython are taken out only of what is no Python with them."""
    text = source.text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # `\d` in a string that is not raw
        try:
            return ast.parse(text)
        except SyntaxError:
            plain = _HELP.sub("", _MAGIC.sub(_blank, text))
            if plain == text:
                raise
        return ast.parse(plain)


def _blank(line: re.Match[str]) -> str:
    """A line of IPython as a statement that does nothing, at the same place."""
    return line[1] + "0"


def _syntax_problem(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"{error.msg}, line {error.lineno}"
    return str(error) or type(error).__name__


def _place_key(statement: EmbeddedStatement) -> tuple[int, int, int]:
    place = statement.rendered.place(0)
    return place.cell or 0, place.line, place.column


def _callee_place(node: ast.Attribute, use: Use) -> Place:
    """The place of the name of what is called."""
    end = use.file.origin(node).end
    return use.file.source.place(end - len(node.attr), end)


class _Reader:
    def __init__(self, sources: Sequence[SourceText], modules: Sequence[tuple[PythonFile, ast.Module]]) -> None:
        self.sources = sources
        self.names = Names.read(modules)
        self.values = Values(self.names)
        self.literals: set[int] = set()
        """The string literals that a statement is made of."""
        self.inside: list[UnreadMerge] = []
        """MERGEs in texts that `.sql(…)` is given, and that are no statements."""
        self.builder_calls: set[int] = set()
        """The calls of `merge` and `mergeInto` whose chains are read."""

    def statements(self) -> Iterator[EmbeddedStatement]:
        seen: set[object] = set()
        for call, use in self.names.calls:
            builder = built_merge(call, use, self.values)
            if builder is not None:
                self.builder_calls.add(id(builder.begins))
                rendered = with_placeholders(builder.text).render(self.sources)
                yield EmbeddedStatement(
                    "builder", rendered, discarded=self._find_discarded() if len(self.builder_calls) == 1 else ()
                )
            for text in self._query_texts(call, use):
                merge = find_merge(text.text)
                if merge is None and _TABLE.match(text.text) is None:
                    continue
                self.literals |= self.values.read_literals
                key = (text.text, text.origin(merge.start if merge is not None else 0))
                if key in seen:
                    continue
                seen.add(key)
                if merge is not None and (reason := unread_in(text.text)) is not None:
                    at = text.origin(merge.start)
                    place = self.sources[at.source].place(at.start, at.end)
                    self.inside.append(UnreadMerge("python", place, reason))
                else:
                    yield EmbeddedStatement("python", with_placeholders(text).render(self.sources))
            self.values.read_literals.clear()

    def views(self) -> Iterator[EmbeddedStatement]:
        """The temporary views of DataFrames whose query is known, and the same wherever a view is created."""
        views: dict[str, list[tuple[PiecedText, PiecedText]]] = {}
        for call, use in self.names.calls:
            method = _VIEWS.fullmatch(call.func.attr) if isinstance(call.func, ast.Attribute) else None
            name_argument = next(
                (keyword.value for keyword in call.keywords if keyword.arg == "name"), (*call.args, None)[0]
            )
            name = self.values.text(name_argument, use) if method is not None and name_argument is not None else None
            if method is None or name is None or not isinstance(call.func, ast.Attribute):
                continue
            at = use.file.origin(call.func)
            name = PiecedText.from_origin("global_temp." if method[1] else "", at) + name
            rows = relation(chain(call.func.value, use, self.values), self.values).text
            text = (
                PiecedText.from_origin("create temporary view ", at)
                + name
                + PiecedText.from_origin(" as select * from ", at)
                + rows
            )
            views.setdefault(name.text.casefold(), []).append((rows, text))
        for definitions in views.values():
            rows, text = definitions[0]
            if not rows.text.startswith("${") and all(other.text == rows.text for other, _ in definitions):
                yield EmbeddedStatement("python", with_placeholders(text).render(self.sources))

    def _query_texts(self, call: ast.Call, use: Use) -> list[PiecedText]:
        """The texts that a call of `….sql` is given."""
        function: ast.expr | None = call.func
        if isinstance(function, ast.Name):  # run = spark.sql
            bindings = self.values.bindings(function, use)
            function = (
                bindings[0].value
                if len(bindings) == 1 and bindings[0].kind == "assign" and not bindings[0].path
                else None
            )
        if not isinstance(function, ast.Attribute) or function.attr != "sql":
            return []
        by_keyword = next((keyword.value for keyword in call.keywords if keyword.arg in ("sqlQuery", "query")), None)
        query = call.args[0] if call.args else by_keyword
        return self.values.texts(query, use) if query is not None else []

    def unread(self) -> Iterator[UnreadMerge]:
        """MERGEs in strings that no `.sql(…)` of these files is given, and in other statements; builders not read."""
        yield from self.inside
        yield from self._find_not_followed()
        for node, use in self.names.strings:
            text = node.value
            if not isinstance(text, str) or id(node) in self.literals or not _is_statement(text):
                continue
            if find_merge(text) is not None:
                at = use.file.origin(node)
                place = use.file.source.place(at.start, at.end)
                yield UnreadMerge("python", place, "lint finds no `.sql(…)` in this file that is given this text")

    def _find_discarded(self) -> tuple[Place, ...]:
        """The calls of these files that add a clause to nothing; they are said once, with the first builder."""
        calls = [(call.func, use) for call, use in self.names.discarded if throws_clause_away(call)]
        return tuple(_callee_place(node, use) for node, use in calls if isinstance(node, ast.Attribute))

    def parts(self) -> Iterator[UnreadMerge]:
        """The first string that begins a MERGE whose other parts are not found."""
        strings = [(node, use) for node, use in self.names.strings if id(node) not in self.literals]
        first = merge_in_parts([node.value for node, _ in strings if isinstance(node.value, str)])
        if first is not None:
            node, use = strings[first]
            at = use.file.origin(node)
            yield UnreadMerge("python", use.file.source.place(at.start, at.end), NOT_PUT_TOGETHER)

    def _find_not_followed(self) -> Iterator[UnreadMerge]:
        """The calls that begin a builder and that no chain is read from; without any, the first that adds a clause."""
        methods = [(call.func, call, use) for call, use in self.names.calls if isinstance(call.func, ast.Attribute)]
        when_calls = [(method, use) for method, _, use in methods if method.attr in WHEN]
        if not when_calls:
            return
        merge_calls = [
            (method, use) for method, call, use in methods if begins_merge(call) and id(call) not in self.builder_calls
        ]
        not_run = {id(begins.func) for call, _ in self.names.discarded if (begins := begun_by(call)) is not None}
        for method, use in merge_calls if merge_calls or self.builder_calls else when_calls[:1]:
            reason = NOT_RUN if id(method) in not_run else NOT_FOLLOWED
            yield UnreadMerge("builder", _callee_place(method, use), reason)
