"""MERGEs in Python code: strings that are given to `….sql(…)`, and chains of Delta's and Spark's builders."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace

from merge_runner.lint.containers.budget import OverBudgetError
from merge_runner.lint.containers.call_chain import chain
from merge_runner.lint.containers.data_frame import relation
from merge_runner.lint.containers.found import (
    NOT_FOLLOWED,
    NOT_PUT_TOGETHER,
    NOT_RUN,
    Contents,
    FoundStatement,
    UnreadMerge,
    has_words,
)
from merge_runner.lint.containers.merge_builder import WHEN, begins_merge, begun_by, built_merge, throws_clause_away
from merge_runner.lint.containers.placeholders import with_placeholders
from merge_runner.lint.containers.python_scopes import Names, Use
from merge_runner.lint.containers.python_strings import PythonFile
from merge_runner.lint.containers.python_values import Values
from merge_runner.lint.containers.script import unread_in
from merge_runner.lint.containers.traced import Traced
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
    parsed: list[tuple[PythonFile, ast.Module]] = []
    unread: list[UnreadMerge] = []
    for number, source in enumerate(sources):
        try:
            parsed.append((PythonFile(source, number), _parsed(source)))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            if (merge := IN_CODE.search(source.text)) is not None:
                why = f"this is not Python that lint can read: {_why(error)}"
                unread.append(UnreadMerge("python", source.place(*merge.span()), why))
    if not parsed:
        return Contents(unread=tuple(unread))
    try:
        found = _Reader(sources, parsed)
        statements = sorted([*found.views(), *found.statements()], key=_where)
        read = Contents(tuple(statements), (*unread, *found.unread()))
        return read if read.merges or read.unread else replace(read, unread=tuple(found.parts()))
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


def _parsed(source: SourceText) -> ast.Module:
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


def _why(error: Exception) -> str:
    if isinstance(error, SyntaxError):
        return f"{error.msg}, line {error.lineno}"
    return str(error) or type(error).__name__


def _where(found: FoundStatement) -> tuple[int, int, int]:
    place = found.rendered.place(0)
    return place.cell or 0, place.line, place.column


def _called(node: ast.Attribute, use: Use) -> Place:
    """The place of the name of what is called."""
    end = use.file.origin(node).end
    return use.file.source.place(end - len(node.attr), end)


class _Reader:
    def __init__(self, sources: Sequence[SourceText], parsed: Sequence[tuple[PythonFile, ast.Module]]) -> None:
        self.sources = sources
        self.names = Names.read(parsed)
        self.values = Values(self.names)
        self.used: set[int] = set()
        """The string literals that a statement is made of."""
        self.inside: list[UnreadMerge] = []
        """MERGEs in texts that `.sql(…)` is given, and that are no statements."""
        self.begun: set[int] = set()
        """The calls of `merge` and `mergeInto` whose chains are read."""

    def statements(self) -> Iterator[FoundStatement]:
        seen: set[object] = set()
        for call, use in self.names.calls:
            built = built_merge(call, use, self.values)
            if built is not None:
                self.begun.add(id(built.begins))
                rendered = with_placeholders(built.text).rendered(self.sources)
                yield FoundStatement("builder", rendered, discarded=self._discarded() if len(self.begun) == 1 else ())
            for text in self._given(call, use):
                merge = find_merge(text.text)
                if merge is None and _TABLE.match(text.text) is None:
                    continue
                self.used |= self.values.touched
                key = (text.text, text.origin(merge.start if merge is not None else 0))
                if key in seen:
                    continue
                seen.add(key)
                if merge is not None and (reason := unread_in(text.text)) is not None:
                    at = text.origin(merge.start)
                    place = self.sources[at.source].place(at.start, at.end)
                    self.inside.append(UnreadMerge("python", place, reason))
                else:
                    yield FoundStatement("python", with_placeholders(text).rendered(self.sources))
            self.values.touched.clear()

    def views(self) -> Iterator[FoundStatement]:
        """The temporary views of DataFrames whose query is known, and the same wherever a view is created."""
        found: dict[str, list[tuple[Traced, Traced]]] = {}
        for call, use in self.names.calls:
            made = _VIEWS.fullmatch(call.func.attr) if isinstance(call.func, ast.Attribute) else None
            given = next((each.value for each in call.keywords if each.arg == "name"), (*call.args, None)[0])
            name = self.values.text(given, use) if made is not None and given is not None else None
            if made is None or name is None or not isinstance(call.func, ast.Attribute):
                continue
            at = use.file.origin(call.func)
            name = Traced.made("global_temp." if made[1] else "", at) + name
            rows = relation(chain(call.func.value, use, self.values), self.values).text
            text = Traced.made("create temporary view ", at) + name + Traced.made(" as select * from ", at) + rows
            found.setdefault(name.text.casefold(), []).append((rows, text))
        for created in found.values():
            rows, text = created[0]
            if not rows.text.startswith("${") and all(other.text == rows.text for other, _ in created):
                yield FoundStatement("python", with_placeholders(text).rendered(self.sources))

    def _given(self, call: ast.Call, use: Use) -> list[Traced]:
        """The texts that a call of `….sql` is given."""
        called: ast.expr | None = call.func
        if isinstance(called, ast.Name):  # run = spark.sql
            bound = self.values.bindings(called, use)
            called = bound[0].value if len(bound) == 1 and bound[0].kind == "assign" and not bound[0].path else None
        if not isinstance(called, ast.Attribute) or called.attr != "sql":
            return []
        named = next((each.value for each in call.keywords if each.arg in ("sqlQuery", "query")), None)
        given = call.args[0] if call.args else named
        return self.values.texts(given, use) if given is not None else []

    def unread(self) -> Iterator[UnreadMerge]:
        """MERGEs in strings that no `.sql(…)` of these files is given, and in other statements; builders not read."""
        yield from self.inside
        yield from self._not_followed()
        for node, use in self.names.strings:
            text = node.value
            if not isinstance(text, str) or id(node) in self.used or not _is_statement(text):
                continue
            if find_merge(text) is not None:
                at = use.file.origin(node)
                place = use.file.source.place(at.start, at.end)
                yield UnreadMerge("python", place, "lint finds no `.sql(…)` in this file that is given this text")

    def _discarded(self) -> tuple[Place, ...]:
        """The calls of these files that add a clause to nothing; they are said once, with the first builder."""
        named = [(call.func, use) for call, use in self.names.discarded if throws_clause_away(call)]
        return tuple(_called(node, use) for node, use in named if isinstance(node, ast.Attribute))

    def parts(self) -> Iterator[UnreadMerge]:
        """The first string that begins a MERGE whose other parts are not found."""
        strings = [(node, use) for node, use in self.names.strings if id(node) not in self.used]
        first = merge_in_parts([node.value for node, _ in strings if isinstance(node.value, str)])
        if first is not None:
            node, use = strings[first]
            at = use.file.origin(node)
            yield UnreadMerge("python", use.file.source.place(at.start, at.end), NOT_PUT_TOGETHER)

    def _not_followed(self) -> Iterator[UnreadMerge]:
        """The calls that begin a builder and that no chain is read from; without any, the first that adds a clause."""
        named = [(call.func, call, use) for call, use in self.names.calls if isinstance(call.func, ast.Attribute)]
        adding = [(called, use) for called, _, use in named if called.attr in WHEN]
        if not adding:
            return
        begun = [(called, use) for called, call, use in named if begins_merge(call) and id(call) not in self.begun]
        not_run = {id(begins.func) for call, _ in self.names.discarded if (begins := begun_by(call)) is not None}
        for called, use in begun if begun or self.begun else adding[:1]:
            reason = NOT_RUN if id(called) in not_run else NOT_FOLLOWED
            yield UnreadMerge("builder", _called(called, use), reason)
