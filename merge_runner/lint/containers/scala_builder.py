"""The MERGEs that chains of calls are in Scala: `DeltaTable.merge(…)….execute()`, `DataFrame.mergeInto(…)….merge()`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from merge_runner.lint.containers.column_expressions import column_name, identifier
from merge_runner.lint.containers.merge_text import ACTIONS, ASKED, SETS, Assignments, clause_text, merge_text
from merge_runner.lint.containers.relation_text import Relation, table_text
from merge_runner.lint.containers.scala_strings import ScalaStrings
from merge_runner.lint.containers.traced import Origin, Traced

_ENDS = {"execute": "merge", "merge": "mergeInto"}
"""The calls that run a MERGE, and those that begin it."""
_KNOWN = frozenset({*ASKED, *ACTIONS, "updateExpr", "insertExpr", "withSchemaEvolution"})
_PASS_ON = frozenset({"toDF", "cache", "persist", "coalesce", "repartition", "hint", "checkpoint", "localCheckpoint"})
_COMPARED = {"===": "=", "=!=": "<>", "<=>": "<=>", ">=": ">=", "<=": "<=", ">": ">", "<": "<"}
_MOST_VALS = 50
"""How many vals are followed for one chain."""

Range = tuple[int, int]
"""The tokens of an expression: the first, and the one after the last."""


@dataclass(frozen=True)
class _Call:
    """A call of a chain: its name, the token of the name, and its arguments."""

    name: str
    token: int
    origin: Origin
    arguments: tuple[Range, ...] = ()

    def made(self, text: str) -> Traced:
        return Traced.made(text, self.origin)


@dataclass(frozen=True)
class _Chain:
    """What a chain of calls begins with, by the author's name, and its calls."""

    root: Range
    calls: tuple[_Call, ...]
    stop: int


@dataclass
class ScalaBuilders:
    """Reads the builders of a file."""

    strings: ScalaStrings
    _read: set[int] = field(default_factory=set)
    """The tokens of the calls that a MERGE was made of."""

    def merges(self) -> Iterator[Traced]:
        """Give the text of each MERGE that a chain runs."""
        for i in range(1, len(self.strings.tokens)):
            if self.strings.text(i) in _ENDS and self.strings.text(i - 1) == ".":
                merge = self._merge(i)
                if merge is not None:
                    yield merge

    def not_followed(self) -> Iterator[int]:
        """Give the token at which each builder begins, its first call, that `merges` has not read."""
        within = False
        for i, token in enumerate(self.strings.tokens):
            if token.kind != "word" or self.strings.text(i - 1) != ".":
                continue
            if token.text in _ENDS and within:
                within = False
            elif (token.text in ASKED or token.text == "mergeInto") and i not in self._read and not within:
                within = True
                yield i

    def _merge(self, end: int) -> Traced | None:
        start = self._beginning(end)
        chain = self._chain(start) if start is not None else None
        if chain is None:
            return None
        calls = chain.calls
        at = next((n for n, call in enumerate(calls) if call.token == end), None)
        if at is None or calls[at].arguments:
            return None
        begins = next((n for n in reversed(range(at)) if calls[n].name == _ENDS[calls[at].name]), None)
        if begins is None or len(calls[begins].arguments) != 2:
            return None
        first, condition = calls[begins].arguments
        before = self._relation(_Chain(chain.root, calls[:begins], chain.stop))
        if calls[begins].name == "merge":
            target, source = before, self._relation(self._whole_chain(first))
        else:
            target, source = Relation(column_name(self._filled(first))), before
        after = calls[begins + 1 : at]
        self._read.update(call.token for call in (*after, calls[begins]))
        return merge_text(
            calls[begins],
            target,
            source,
            self._condition(condition),
            self._clauses(after),
            [each for each in after if each.name not in _KNOWN],
            evolves=any(each.name == "withSchemaEvolution" for each in after),
        )

    # Chains

    def _beginning(self, i: int) -> int | None:
        """The token at which the chain of the call whose name is token i begins."""
        text = self.strings.text
        while i > 0 and text(i - 1) == ".":
            self.strings.budget.step()
            i -= 2
            while i > 0 and text(i) in (")", "]", "}"):
                i = self.strings.opening(i)
                if not self.strings.is_applied(i):
                    return i
                i -= 1
            if i < 0 or self.strings.tokens[i].kind not in ("word", "string"):
                return None
        return i

    def _chain(self, start: int, following: frozenset[str] = frozenset()) -> _Chain:
        """The chain that begins at a token, with that of the val that it begins with in front."""
        strings = self.strings
        root = strings.text(start)
        i = strings.closing(start) + 1 if root == "(" else start + 1
        while strings.is_applied(i):
            i = strings.closing(i) + 1
        whole = (start, i)
        calls: list[_Call] = []
        strings.budget.step()
        while strings.text(i) == "." and i + 1 < len(strings.tokens):
            strings.budget.step()
            name = i + 1
            i += 2
            if strings.text(i) == "[":
                i = strings.closing(i) + 1
            arguments: tuple[Range, ...] = ()
            if strings.text(i) == "(":
                arguments = tuple(self._arguments(i))
                i = strings.closing(i) + 1
            calls.append(_Call(strings.text(name), name, strings.origin(name, name + 1), arguments))
        value = strings.value(root) if whole == (start, start + 1) and root not in following else None
        inner = start + 1 if root == "(" else value
        if inner is not None and len(following) < _MOST_VALS:
            before = self._chain(inner, following | {root})
            if before.calls and (before.stop == whole[1] - 1 if root == "(" else strings.ends(before.stop)):
                return _Chain(before.root, (*before.calls, *calls), i)
        return _Chain(whole, tuple(calls), i)

    def _whole_chain(self, given: Range) -> _Chain:
        """The chain that an expression is; one without calls where it is something else."""
        chain = self._chain(given[0])
        return chain if chain.stop == given[1] else _Chain(given, (), given[1])

    def _arguments(self, opening: int) -> Iterator[Range]:
        """The arguments in parentheses; a name in front of one is left out."""
        closing = self.strings.closing(opening)
        start = i = opening + 1
        while i <= closing:
            self.strings.budget.step()
            if i == closing or self.strings.text(i) == ",":
                if i > start:
                    named = self.strings.text(start + 1) == "=" and self.strings.text(start + 2) not in ("=", ">")
                    yield (start + 2 if named and self.strings.tokens[start].kind == "word" else start, i)
                start = i + 1
            elif self.strings.text(i) in ("(", "[", "{"):
                i = self.strings.closing(i)
            i += 1

    # What the arguments are

    def _text(self, given: Range) -> Traced | None:
        text, stop = self.strings.expression(given[0])
        return text if stop == given[1] else None

    def _filled(self, given: Range) -> Traced:
        text = self._text(given)
        return text if text is not None else self.strings.hole(*given)

    def _relation(self, chain: _Chain) -> Relation:
        found = alias = None
        calls = list(chain.calls)
        for number, call in enumerate(calls):
            if call.name in ("forName", "forPath", "table", "sql") and call.arguments:
                found = table_text(call.name, call, self._filled(call.arguments[-1]))
                del calls[: number + 1]
                break
        for call in calls:
            if call.name in ("as", "alias"):
                alias = identifier(self._filled(call.arguments[0])) if call.arguments else alias
            elif call.name not in _PASS_ON or (call.name == "toDF" and call.arguments):
                found = None
        if found is None:
            origin = self.strings.origin(*chain.root)
            name = self.strings.text(chain.root[0]) if chain.root[1] == chain.root[0] + 1 else "…"
            found = Traced.filled(name, origin)
        return Relation(found, alias)

    def _clauses(self, calls: Sequence[_Call]) -> Iterator[tuple[str, Traced]]:
        asked: _Call | None = None
        for call in calls:
            action = call.name.removesuffix("Expr")
            if call.name in ASKED:
                asked = call
            elif action in ACTIONS and asked is not None:
                asks = self._condition(asked.arguments[0]) if asked.arguments else None
                listed = self._assignments(call) if action in SETS else None
                given = Traced.filled("{…}", call.origin) if listed is None else listed
                yield clause_text(ASKED[asked.name], asked, asks, ACTIONS[action], call, given)
                asked = None

    def _assignments(self, call: _Call) -> Assignments | None:
        """The pairs of `Map("n" -> …)`: texts of SQL for `updateExpr` and `insertExpr`, else Columns."""
        given = call.arguments[0] if len(call.arguments) == 1 else (0, 0)
        value = self.strings.value(self.strings.text(given[0])) if given[1] - given[0] == 1 else None
        start = given[0] if value is None else value
        opening = start + 1
        if self.strings.text(opening) == "[":
            opening = self.strings.closing(opening) + 1
        stop = self.strings.closing(opening) + 1 if self.strings.text(opening) == "(" else 0
        whole = stop == given[1] if value is None else self.strings.ends(stop)
        if self.strings.text(start) != "Map" or not whole:
            return None
        found: list[tuple[Traced, Traced | None]] = []
        for first, last in self._arguments(opening):
            arrow = next((i for i in range(first, last) if self._operator(i, "->")), None)
            name = self._text((first, arrow)) if arrow is not None else None
            if name is None or arrow is None:
                return None
            pair = (arrow + 2, last)
            shown = self._filled(pair) if call.name.endswith("Expr") else self._operand(pair)
            found.append((column_name(name), shown if shown is not None else self.strings.hole(*pair)))
        return found or None

    # Columns

    def _condition(self, given: Range) -> Traced:
        """A text of SQL, or Columns that `&&` joins; one that is not known is in parentheses next to others."""
        text = self._text(given)
        if text is not None:
            return text
        top = list(self._top(given))
        ands = [i for i in top if self._operator(i, "&&")]
        if any(self._operator(i, "||") for i in top):
            return self.strings.hole(*given)
        found: list[Traced] = []
        edges = zip([given[0], *(i + 2 for i in ands)], [*ands, given[1]], strict=True)
        for part in edges:
            made = self._comparison(part)
            if made is None:
                hole = self.strings.hole(*part)
                at = hole.origin(0)
                made = hole if not ands else Traced.made("(", at) + hole + Traced.made(")", at)
            found += [Traced.made(" and ", made.origin(0)), made] if found else [made]
        return Traced.joined(found)

    def _comparison(self, given: Range) -> Traced | None:
        if self.strings.text(given[0]) == "(" and self.strings.closing(given[0]) == given[1] - 1:
            return self._comparison((given[0] + 1, given[1] - 1))
        words = [self.strings.text(i) for i in range(*given)]
        if words[:2] == ["expr", "("] and self.strings.closing(given[0] + 1) == given[1] - 1:
            text = self._text((given[0] + 2, given[1] - 1))
            around = self.strings.origin(given[0], given[0] + 1)
            return text and Traced.made("(", around) + text + Traced.made(")", around)
        top = [i for i in self._top(given) if self.strings.tokens[i].kind == "op" and self.strings.text(i) in "=<>!"]
        operator = "".join(self.strings.text(i) for i in top)
        if operator not in _COMPARED or top[-1] - top[0] != len(top) - 1:
            return None
        left, right = self._operand((given[0], top[0])), self._operand((top[-1] + 1, given[1]))
        if left is None or right is None:
            return None
        return left + Traced.made(f" {_COMPARED[operator]} ", self.strings.origin(top[0], top[-1] + 1)) + right

    def _operand(self, given: Range) -> Traced | None:
        """The SQL of `col("x")`, `$"x"` or `lit("x")`; None: not known."""
        strings = self.strings
        start, stop = given
        words = [strings.text(i) for i in range(start, stop)]
        if words[:1] == ["$"] and stop - start == 2:
            text = self._text((start + 1, stop))
            return text and column_name(text)
        while words[1:2] == ["."] and words[0] in ("F", "functions"):
            start, words = start + 2, words[2:]
        if words[1:2] != ["("] or strings.closing(start + 1) != stop - 1:
            return None
        text = self._text((start + 2, stop - 1))
        if words[0] in ("col", "column"):
            return text and column_name(text)
        if words[0] == "expr":
            return text
        at = strings.origin(start, stop)
        if words[0] == "lit" and text is not None and not set("'\\") & set(text.text):
            return Traced.made("'", at) + text + Traced.made("'", at)
        number = "".join(words[2:-1])
        return Traced.made(number, at) if words[0] == "lit" and number.isdigit() else None

    def _top(self, given: Range) -> Iterator[int]:
        """The tokens of an expression that are in no parentheses."""
        i = given[0]
        while i < given[1]:
            self.strings.budget.step()
            yield i
            i = self.strings.closing(i) + 1 if self.strings.text(i) in ("(", "[", "{") else i + 1

    def _operator(self, i: int, text: str) -> bool:
        """Whether an operator of two characters begins at a token."""
        one, other = self.strings.tokens[i : i + 2] if i + 1 < len(self.strings.tokens) else (None, None)
        return one is not None and other is not None and one.end == other.start and one.text + other.text == text
