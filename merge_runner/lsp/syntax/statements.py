"""Reads which relations a half-written text names, and how.

A reading of the author's text, so that every place is the author's. It knows no expressions; what it cannot read is
left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from merge_runner.lsp.syntax.relations import Output, Relation, Select, Statements, Subject
from merge_runner.lsp.syntax.tokens import Scanned, Token, calls, scanned
from merge_runner.text import Span

_KEYWORDS = frozenset(
    {
        "on",
        "using",
        "when",
        "where",
        "join",
        "left",
        "right",
        "inner",
        "outer",
        "full",
        "cross",
        "natural",
        "semi",
        "anti",
    }
    | {
        "group",
        "order",
        "having",
        "limit",
        "union",
        "except",
        "intersect",
        "minus",
        "lateral",
        "select",
        "set",
        "values",
    }
    | {"matched", "not", "then", "pivot", "unpivot", "tablesample", "version", "timestamp", "for", "window", "qualify"}
    | {
        "cluster",
        "distribute",
        "sort",
        "with",
        "and",
        "or",
        "from",
        "merge",
        "into",
        "insert",
        "update",
        "delete",
        "as",
    }
)
"""Words after a relation that are no alias."""
_HISTORY = frozenset({"version", "system_version", "timestamp", "system_time", "to", "date", "inclusive", "exclusive"})
"""Words of the clause CHANGES FROM."""
_SET_OPERATIONS = frozenset({"union", "except", "intersect", "minus"})


class Item(NamedTuple):
    """A token of SQL, or a whole tag. `key` is the lower-case word or the operator; `tag` is -1 for SQL."""

    key: str
    start: int
    end: int
    token: Token | None
    tag: int = -1


@lru_cache(maxsize=64)
def statements(text: str) -> Statements:
    """Return what a text reads; kept for the texts of the last requests."""
    scan = scanned(text)
    reader = _Reader(scan)
    reader.block(0, len(reader.items), None, {})
    selects = sorted(reader.selects, key=lambda select: (select.span.start, -select.span.end))
    return Statements(scan, tuple(selects), tuple(reader.ctes))


def items(scan: Scanned) -> list[Item]:
    """Return the tokens of SQL without comments, each expression in a tag as one item; blocks are left out."""
    sql_items = [
        Item(token.text.lower() if token.kind == "word" else token.text, token.start, token.end, token)
        for token in scan.tokens
        if token.tag < 0 and token.kind != "comment"
    ]
    strings = [item for item in sql_items if item.token is not None and item.token.kind == "string"]
    for number, tag in enumerate(scan.tags):
        inside = any(string.start < tag.span.start and tag.span.end <= string.end for string in strings)
        if tag.opening == "{{" and not inside:
            sql_items.append(Item("{{", tag.span.start, tag.span.end, None, number))
    sql_items.sort(key=lambda item: item.start)
    return sql_items


class _Reader:
    """One pass over a text."""

    def __init__(self, scan: Scanned) -> None:
        self._scan = scan
        comments = [token for token in scan.tokens if token.tag < 0 and token.kind == "comment"]
        self.items = [
            item
            for item in items(scan)
            if item.tag < 0 or not any(comment.start <= item.start < comment.end for comment in comments)
        ]
        self._closing = _match_parentheses(self.items)
        self.selects: list[Select] = []
        self.ctes: list[Relation] = []

    def _key(self, at: int) -> str:
        return self.items[at].key if at < len(self.items) else ""

    def _offset(self, end: int) -> int:
        """The offset at which the block that ends before the item `end` ends."""
        return self.items[end].start if end < len(self.items) else len(self._scan.text)

    def block(self, at: int, end: int, outer: Select | None, ctes: Mapping[str, Relation]) -> Select | None:
        """Read the items `at` to `end`, a statement or what parentheses hold, and return its first SELECT or MERGE."""
        first: Select | None = None
        here = outer
        while at < end:
            key = self._key(at)
            if key == "with" and self._key(at + 1) != "schema":
                at, ctes = self._ctes(at + 1, end, ctes)
                continue
            if key in ("merge", "select"):
                here = Select(
                    "merge" if key == "merge" else "select",
                    Span(self.items[at].start, self._offset(self._select_end(at, end) if key == "select" else end)),
                    outer,
                    ctes,
                )
                self.selects.append(here)
                first = first or here
                if key == "select":
                    here.outputs = self._outputs(at + 1, end)
            elif here is not None and here is not outer and self._reads(key, at, here):
                at = self._relations(at + 1, end, here)
                continue
            elif here is not None and here.kind == "merge" and key in ("insert", "set"):
                self._target_list(key, at, end, here)
            if key == "(":
                self.block(at + 1, self._closing[at], here, ctes)
                at = self._closing[at]
            at += 1
        return first

    def _reads(self, key: str, at: int, here: Select) -> bool:
        if here.kind == "merge":
            return (key == "into" and not here.relations) or (key == "using" and len(here.relations) < 2)
        before = self._key(at - 1) if at else ""
        return key == "join" or (key == "from" and before != "distinct")

    def _select_end(self, at: int, end: int) -> int:
        while at < end:
            if self._key(at) in _SET_OPERATIONS:
                return at
            at = self._closing[at] + 1 if self._key(at) == "(" else at + 1
        return end

    def _ctes(self, at: int, end: int, ctes: Mapping[str, Relation]) -> tuple[int, Mapping[str, Relation]]:
        visible = dict(ctes)
        at += self._key(at) == "recursive" and self._key(at + 1) not in ("as", "(")
        while at < end and (token := self.items[at].token) is not None and token.is_name:
            at += 1
            columns: tuple[str, ...] = ()
            if self._key(at) == "(" and self._key(at + 1) not in ("select", "with"):
                columns, at = self._names(at), self._closing[at] + 1
            if self._key(at) == "max":  # MAX RECURSION LEVEL n
                at += 4
            at += self._key(at) == "as"
            if self._key(at) != "(":
                break
            query = self.block(at + 1, self._closing[at], None, dict(visible))
            subject = Subject("query")
            visible[token.value.casefold()] = cte = Relation(
                subject, token.value, token.value_span, token.span, query, columns
            )
            self.ctes.append(cte)
            at = min(self._closing[at] + 1, end)
            if self._key(at) != ",":
                break
            at += 1
        return at, visible

    def _relations(self, at: int, end: int, here: Select) -> int:
        """Read the relations from `at` on, by commas, and return the number of the item after them."""
        while at < end:
            at += self._key(at) == "lateral"
            at = self._relation(at, end, here)
            if self._key(at) != "," or here.kind == "merge":
                break
            at += 1
        return at

    def _relation(self, at: int, end: int, here: Select) -> int:
        if at >= end:
            return at
        item = self.items[at]
        subject, query, name = Subject("unknown"), None, None
        cte_columns: tuple[str, ...] = ()
        if item.tag >= 0:
            subject, at = _subject(self._scan.of_tag(item.tag)), at + 1
        elif item.key == "(":
            closing = self._closing[at]
            query = self.block(at + 1, closing, None, here.ctes)
            subject, at = Subject("query") if query is not None else subject, min(closing + 1, end)
        elif item.token is not None and item.token.is_name and item.key not in _KEYWORDS:
            parts = [item.token]
            at += 1
            while self._key(at) == "." and at + 1 < end and (token := self.items[at + 1].token) and token.is_name:
                parts.append(token)
                at += 2
            name = parts[-1]
            if self._key(at) == "(":  # a table function
                at = min(self._closing[at] + 1, end)
            else:
                subject = Subject("table", tuple(part.value for part in parts))
                cte = here.ctes.get(parts[0].value.casefold()) if len(parts) == 1 else None
                query, cte_columns = (cte.query, cte.columns) if cte is not None else (None, ())
        else:
            return at
        last = self.items[at - 1].end
        at = self._past_options(self._past_changes(at, end), end)
        qualifier = name.value if name is not None else None
        span = name.value_span if name is not None else None
        columns: tuple[str, ...] = ()
        if self._key(at) == "as" and at + 1 < end:
            at += 1
        alias = self.items[at].token if at < end else None
        if alias is not None and alias.is_name and self._key(at) not in _KEYWORDS:
            qualifier, span, at = alias.value, alias.value_span, at + 1
            if self._key(at) == "(":
                columns, at = self._names(at), min(self._closing[at] + 1, end)
        is_source = here.kind == "merge" and len(here.relations) == 1
        here.relations.append(
            Relation(subject, qualifier, span, Span(item.start, last), query, columns or cte_columns, is_source)
        )
        return at

    def _past_changes(self, at: int, end: int) -> int:
        """Return the number of the item after `changes from version 1 to version 2`, which may begin at `at`."""
        if [self._key(at), self._key(at + 1)] != ["changes", "from"] or self._key(at + 2) not in _HISTORY:
            return at
        at += 3
        while at < end and (self._key(at) in _HISTORY or _is_literal(self.items[at])):
            at += 1
        return at

    def _past_options(self, at: int, end: int) -> int:
        """Return the number of the item after `with ('key' = 'value')`, which may begin at `at`."""
        return min(self._closing[at + 1] + 1, end) if [self._key(at), self._key(at + 1)] == ["with", "("] else at

    def _names(self, at: int) -> tuple[str, ...]:
        tokens = (item.token for item in self.items[at + 1 : self._closing[at]])
        return tuple(token.value for token in tokens if token is not None and token.is_name)

    def _target_list(self, key: str, at: int, end: int, here: Select) -> None:
        if key == "insert":
            if self._key(at + 1) == "(":
                closing = self._closing[at + 1]
                here.target_lists.append(Span(self.items[at + 1].end, self._offset(closing)))
            return
        stop = at + 1
        while stop < end and self._key(stop) != "when":
            stop = self._closing[stop] + 1 if self._key(stop) == "(" else stop + 1
        here.target_lists.append(Span(self.items[at].end, self._offset(stop)))

    def _outputs(self, at: int, end: int) -> list[Output]:
        outputs: list[Output] = []
        at += self._key(at) in ("distinct", "all")
        begin = at
        while at <= end:
            key = self._key(at) if at < end else "from"
            if key in ("from", ",") or key in _SET_OPERATIONS:
                if at > begin:
                    outputs.append(self._output(self.items[begin:at]))
                if key != ",":
                    break
                begin = at + 1
            at = self._closing[at] + 1 if key == "(" else at + 1
        return outputs

    def _output(self, parts: Sequence[Item]) -> Output:
        last = parts[-1]
        whole = Span(parts[0].start, last.end)
        token = last.token
        before = parts[-2].key if len(parts) > 1 else ""
        if last.key == "*" and (len(parts) == 1 or before == "."):
            qualifier = parts[0].token.value if len(parts) == 3 and parts[0].token is not None else None
            return Output(None, last.token.span if last.token else whole, star=True, qualifier=qualifier)
        if token is None or not token.is_name:
            return Output(None, whole)
        column = qualifier = None
        names = [part.token for part in parts if part.token is not None and part.token.is_name and part.key != "as"]
        if len(parts) == 1 or (before == "." and len(parts) == 3):
            column, qualifier = token.value, names[0].value if len(parts) == 3 else None
        elif before == "as" and len(parts) in (3, 5):
            column, qualifier = names[-2].value if len(names) > 1 else None, names[0].value if len(parts) == 5 else None
        elif before not in ("as", ")", ".") and not _ends_value(parts[-2]):
            return Output(None, whole)
        return Output(token.value, token.value_span, qualifier=qualifier, column=column)


def _is_literal(item: Item) -> bool:
    return item.tag >= 0 or (item.token is not None and item.token.kind in ("string", "number"))


def _ends_value(item: Item) -> bool:
    """Return whether a word after the item is an alias: the item ends an expression."""
    if item.tag >= 0 or item.key in (")", "]"):
        return True
    return item.token is not None and (item.token.kind in ("string", "number") or item.token.is_name)


def _subject(tokens: Sequence[Token]) -> Subject:
    """Return what an expression in a tag names, where it is `this` or a call with names in quotes."""
    if tokens and tokens[0].text == "this":
        return Subject("this")
    call = next(iter(calls(tokens)), None)
    if call is None:
        return Subject("unknown")
    names = [
        argument.text.value for argument in call.arguments if argument.text is not None and argument.keyword is None
    ]
    if call.name.text in ("ref", "changes") and names:
        return Subject("ref", (names[-1],))
    if call.name.text == "source" and len(names) == 2:
        return Subject("source", tuple(names))
    return Subject("unknown")


def _match_parentheses(sql_items: Sequence[Item]) -> dict[int, int]:
    """Return for each opening parenthesis the number of its closing one; the end where it is never closed."""
    stack: list[int] = []
    pairs: dict[int, int] = {}
    for number, item in enumerate(sql_items):
        if item.key == "(":
            stack.append(number)
        elif item.key == ")" and stack:
            pairs[stack.pop()] = number
    return pairs | dict.fromkeys(stack, len(sql_items))
