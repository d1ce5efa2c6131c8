"""The answer to a question about lineage, and how it is written: as text, as JSON, as a drawing of Graphviz."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from merge_runner.columns import padded, width
from merge_runner.graph.output import dot_text
from merge_runner.lineage.edge import Input
from merge_runner.plan.lineage.model_lineage import LineageColumn, UnresolvedInput
from merge_runner.text import place_as_json

Direction = Literal["up", "down", "both"]

ColumnKey = tuple[str, str]
"""The name of a relation and of a column of it, both case folded."""

_VERSION = 1
_ROWS = "(rows)"
_FEW = 4
"""Names of columns that are list_inputs; more are counted."""


@dataclass(frozen=True)
class Lineage:
    """The columns that a question is about, and what is upstream and downstream of them.

    `start` are the columns of the model that was asked for, or the one column; without a question those of all models.
    A source or seed has no columns here: it is where lineage begins. `names` are the nodes' names for people, by the
    names of their relations.
    """

    subject: str | None
    start: tuple[LineageColumn, ...]
    upstream: tuple[LineageColumn, ...] = ()
    downstream: tuple[LineageColumn, ...] = ()
    unresolved: tuple[UnresolvedInput, ...] = ()
    direction: Direction = "both"
    begin: tuple[ColumnKey, ...] = ()
    """What was asked for as keys, also where it is a column of a source or seed."""
    names: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def columns(self) -> tuple[LineageColumn, ...]:
        """All columns, each once: those asked for, then upstream, then downstream."""
        return tuple(dict.fromkeys((*self.start, *self.upstream, *self.downstream)))

    @property
    def ok(self) -> bool:
        """Whether all models that the answer needs could be read."""
        return not any(gap.is_error for gap in self.unresolved)

    def lines(self) -> Iterator[str]:
        """Yield lines of text for a terminal."""
        return _text_lines(self)

    def dot(self) -> Iterator[str]:
        """Yield lines of the DOT language, which Graphviz draws."""
        return _dot_lines(self)

    def as_json(self) -> dict[str, Any]:
        """The columns as JSON values."""
        return _as_json(self)


def _as_json(lineage: Lineage) -> dict[str, Any]:
    """Lineage as JSON values."""
    return {
        "version": _VERSION,
        "columns": [
            {
                "model": column.model,
                "column": column.column,
                "inputs": [
                    {
                        "relation": part.relation,
                        "column": part.column,
                        "type": "direct" if part.is_direct else "indirect",
                        "subtype": part.subtype,
                    }
                    for part in column.inputs
                ],
            }
            for column in lineage.columns
        ],
        "unresolved": [
            {
                "model": gap.model,
                "in_column": gap.column,
                "reason": gap.reason,
                **(place_as_json(gap.place) if gap.place is not None else {}),
            }
            for gap in lineage.unresolved
        ],
    }


def _dot_lines(lineage: Lineage) -> Iterator[str]:
    """Lines of the DOT language: a box for each table with its columns, what only decides as dashed arrows."""
    columns: dict[str, dict[str, str]] = {}
    edges: dict[str, None] = {}
    for column in lineage.columns:
        own = column.relation.casefold()
        columns.setdefault(own, {})[column.column.casefold()] = column.column
        targets = [(part, column.column.casefold()) for part in column.value_inputs]
        targets += [(part, _ROWS) for part in column.rows]
        for part, target in targets:
            relation, name = part.relation.casefold(), part.column.casefold()
            columns.setdefault(relation, {}).setdefault(name, part.column)
            columns[own].setdefault(target, _ROWS)
            style = "" if part.is_direct else ", style=dashed"
            arrow = f"{dot_text(f'{relation}.{name}')} -> {dot_text(f'{own}.{target}')}"
            edges[f"  {arrow} [label={part.subtype}{style}];"] = None
    yield "digraph lineage {"
    yield "  rankdir=LR;"
    yield "  node [shape=box];"
    for number, (relation, names) in enumerate(columns.items()):
        yield f"  subgraph cluster_{number} {{"
        yield f"    label={dot_text(_name(relation, lineage.names))};"
        for key, name in names.items():
            yield f"    {dot_text(f'{relation}.{key}')} [label={dot_text(name)}];"
        yield "  }"
    yield from edges
    yield "}"


def _text_lines(lineage: Lineage) -> Iterator[str]:
    """Lines for a terminal: trees for one column, else a list of the columns of each model."""
    if lineage.subject is not None and len(lineage.begin) == 1:
        yield from _trees(lineage)
    else:
        yield from _models(lineage.start, lineage.names)
        for title, columns in (("upstream", lineage.upstream), ("downstream", lineage.downstream)):
            if columns:
                yield from [""] if lineage.start else []
                yield f"{title}:"
                yield ""
                yield from _models(columns, lineage.names)
    if lineage.unresolved:
        yield ""
        yield "not resolved:"
        yield from (f"  {line}" for line in dict.fromkeys(map(_unresolved, lineage.unresolved)))


def _unresolved(gap: UnresolvedInput) -> str:
    of = f"{gap.model}.{gap.column}" if gap.column is not None else gap.model
    return f"{gap.place}: {of}: {gap.reason}" if gap.place is not None else f"{of}: {gap.reason}"


def _name(relation: str, names: Mapping[str, str]) -> str:
    """A relation for people: the name of its node."""
    return names.get(relation.casefold(), relation)


def list_inputs(inputs: Iterable[Input], names: Mapping[str, str]) -> Iterator[str]:
    """Inputs in few words, those of one relation and kind together: `orders.day, .month (filter and join)`."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for part in inputs:
        kinds.setdefault((_name(part.relation, names), part.column), []).append(part.subtype)
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (relation, column), subtypes in kinds.items():
        together.setdefault((relation, tuple(dict.fromkeys(subtypes))), []).append(column)
    for (relation, shared), columns in together.items():
        yield f"{relation}.{', .'.join(columns)}{_kind(shared)}"


def _models(columns: Sequence[LineageColumn], names: Mapping[str, str]) -> Iterator[str]:
    """The columns of each model with what they are made of, and what decides about them and about its rows."""
    by_model: dict[str, list[LineageColumn]] = {}
    for column in columns:
        by_model.setdefault(column.unique_id, []).append(column)
    for number, own in enumerate(by_model.values()):
        if number:
            yield ""
        yield own[0].model
        lines = [(column.column, [part for part in column.value_inputs if part.is_direct]) for column in own]
        conditions = dict.fromkeys(part for column in own for part in column.value_inputs if not part.is_direct)
        lines += [("(conditions)", list(conditions))] if conditions else []
        lines += [(_ROWS, list(own[0].rows))] if own[0].rows else []
        widest = max(width(name) for name, _ in lines)
        for name, parts in lines:
            yield f"  {padded(name, widest)}  {', '.join(list_inputs(parts, names)) or '-'}"


def _trees(lineage: Lineage) -> Iterator[str]:
    """One column: where it comes from as a tree, what decides about it, and where it goes to."""
    yield lineage.subject or ""
    if lineage.direction != "down":
        yield from _sources(lineage)
    if lineage.direction != "up":
        yield from _effects(lineage)


def _sources(lineage: Lineage) -> Iterator[str]:
    key = lineage.begin[0]
    written = [part for column in lineage.start for part in column.value_inputs]
    direct = [part for part in written if part.is_direct]
    decides = [part for part in written if not part.is_direct]
    rows = [part for column in lineage.start for part in column.rows]
    if direct:
        yield "  comes from"
        yield from _up(direct, _by_key((*lineage.start, *lineage.upstream)), lineage.names, "  ", (key, {key}))
    elif lineage.start and not decides:
        yield "  comes from no column"
    for title, parts in (("is decided by", decides), ("its rows are decided by", rows)):
        if parts:
            yield f"  {title}"
            yield from (f"    {line}" for line in list_inputs(dict.fromkeys(parts), lineage.names))


def _effects(lineage: Lineage) -> Iterator[str]:
    key = lineage.begin[0]
    lines = list(_down(key, lineage, "  ", (key, {key})))
    if lines:
        yield "  goes to"
        yield from lines
    lines = list(_dependents(key, lineage))
    if lines:
        yield "  decides about"
        yield from (f"    {line}" for line in lines)
    if lineage.downstream:
        models = _count(len({column.unique_id for column in lineage.downstream}), "model")
        yield f"  a change of it can reach {_count(len(lineage.downstream), 'column')} of {models}"
    else:
        yield "  no column depends on it"


def _again(key: ColumnKey, seen: tuple[ColumnKey, set[ColumnKey]]) -> str:
    """What follows the name of a column that was shown before, with what it comes from or goes to."""
    return "" if key not in seen[1] else " (itself)" if key == seen[0] else " (see above)"


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _by_key(columns: Iterable[LineageColumn]) -> dict[ColumnKey, list[LineageColumn]]:
    by_key: dict[ColumnKey, list[LineageColumn]] = {}
    for column in columns:
        by_key.setdefault((column.relation.casefold(), column.column.casefold()), []).append(column)
    return by_key


def _up(
    parts: Sequence[Input],
    by_key: Mapping[ColumnKey, list[LineageColumn]],
    names: Mapping[str, str],
    indent: str,
    seen: tuple[ColumnKey, set[ColumnKey]],
) -> Iterator[str]:
    """The inputs of a column that values are made of, each with its own; one that was shown before is not repeated."""
    kinds: dict[tuple[str, str], list[Input]] = {}
    for part in dict.fromkeys(parts):
        kinds.setdefault((part.relation.casefold(), part.column.casefold()), []).append(part)
    for number, (key, own) in enumerate(kinds.items(), start=1):
        last = number == len(kinds)
        inner = [part for column in by_key.get(key, ()) for part in column.value_inputs if part.is_direct]
        again = _again(key, seen) if inner else ""
        yield f"{indent}{'└─' if last else '├─'} {next(list_inputs(own, names))}{again}"
        if not again:
            seen[1].add(key)
            yield from _up(inner, by_key, names, indent + ("   " if last else "│  "), seen)


def _down(key: ColumnKey, lineage: Lineage, indent: str, seen: tuple[ColumnKey, set[ColumnKey]]) -> Iterator[str]:
    """The columns that are made of one, each with those that are made of it."""
    targets: list[tuple[LineageColumn, list[Input]]] = []
    for column in (*lineage.start, *lineage.downstream):
        parts = [part for part in column.value_inputs if part.is_direct and _is(part, key)]
        if parts:
            targets.append((column, parts))
    for number, (column, parts) in enumerate(targets, start=1):
        last = number == len(targets)
        target = column.relation.casefold(), column.column.casefold()
        again = _again(target, seen)
        kind = _kind([part.subtype for part in parts])
        yield f"{indent}{'└─' if last else '├─'} {column.model}.{column.column}{kind}{again}"
        if not again:
            seen[1].add(target)
            yield from _down(target, lineage, indent + ("   " if last else "│  "), seen)


def _dependents(key: ColumnKey, lineage: Lineage) -> Iterator[str]:
    """The columns and rows of each model that a column decides about, without those that depend on these."""
    columns: dict[tuple[str, str], list[str]] = {}
    rows: dict[str, dict[str, None]] = {}
    for column in (*lineage.start, *lineage.downstream):
        kind = _kind([part.subtype for part in column.value_inputs if not part.is_direct and _is(part, key)])
        if kind:
            columns.setdefault((column.model, kind), []).append(column.column)
        rows.setdefault(column.model, {}).update({part.subtype: None for part in column.rows if _is(part, key)})
    for (model, kind), names in columns.items():
        words = f"{model}.{', .'.join(names)}" if len(names) <= _FEW else f"{len(names)} columns of {model}"
        yield words + kind
    yield from (f"the rows of {model}{_kind(list(subtypes))}" for model, subtypes in rows.items() if subtypes)


def _kind(subtypes: Sequence[str]) -> str:
    """How one column depends on another, after its name; a copy needs no word, and neither does nothing."""
    return "" if list(subtypes) in ([], ["identity"]) else f" ({' and '.join(subtypes)})"


def _is(part: Input, key: ColumnKey) -> bool:
    return (part.relation.casefold(), part.column.casefold()) == key
