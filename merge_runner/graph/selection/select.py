"""The selection syntax of dbt: which nodes `--select`, `--exclude` and `--selector` mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from math import inf

from merge_runner.errors import Problem, Problems, ProblemsError, did_you_mean
from merge_runner.graph.cycles import cycle_path
from merge_runner.graph.graph import DataTestNode, Graph, SourceNode, UnitTestNode
from merge_runner.graph.order import relatives, topological
from merge_runner.graph.selection.criterion import Criterion, parse_criterion
from merge_runner.graph.selection.methods.lookup import Lookup, SelectionContext, nothing_selected
from merge_runner.graph.selection.methods.search import search
from merge_runner.graph.selection.selection import Selection
from merge_runner.project.schema.selectors import Combination, Definition, Indirect, Method, SelectionText
from merge_runner.text import Place

__all__ = ["Selection", "SelectionContext", "select"]

_NO_WARNING = frozenset({"state", "result", "git"})
"""Methods that ask for changes: that there are none is an ordinary answer."""
MOST_CRITERIA = 10_000
"""Of one selection: each is looked up in all nodes."""


@dataclass(frozen=True)
class _Part:
    """What a part of a selection selects, and the tests that a cautious selection keeps back for want of a parent."""

    ids: frozenset[str]
    waiting: frozenset[str] = frozenset()


def select(
    graph: Graph,
    context: SelectionContext,
    select: Sequence[str] = (),
    exclude: Sequence[str] = (),
    selector: str | None = None,
) -> Selection:
    """The nodes that `select` or the named `selector` selects (neither: all of them), without those of `exclude`.

    Each string holds criteria: spaces between them unite, commas intersect, and several strings unite. An empty
    string selects nothing. Tests follow what they test, as `context.indirect` says. ProblemsError for an unknown
    method, value or selector, for both `select` and `selector`, and where an earlier state or git cannot be read.
    """
    if select and selector is not None:
        hint = "give one of them; --exclude goes with both"
        raise ProblemsError([Problem("select-and-selector", "--select and --selector exclude each other", hint=hint)])
    run = _Run(graph, context)
    if selector is not None:
        part = run.selector(selector, ())
    elif select:
        part = run.union(select, ())
    else:
        part = _Part(frozenset(graph.nodes))
    if exclude:
        part = run.combine((part, run.union(exclude, ())), frozenset.difference)
    run.problems.check()
    return Selection(tuple(topological(graph, part.ids)), tuple(dict.fromkeys(run.lookup.warnings)))


class _Run:
    """One selection under way: reads criteria, looks up what they match, and combines the sets."""

    def __init__(self, graph: Graph, context: SelectionContext) -> None:
        self.graph = graph
        self.context = context
        self.lookup = Lookup(graph, context)
        self.problems = Problems()
        self.criteria = 0
        self.selected: dict[int, _Part] = {}
        """What each definition selects, by its id: one that others name many times is looked up once."""

    def union(self, texts: Iterable[str], within: tuple[str, ...]) -> _Part:
        """Return all criteria of the strings; `within` are the names of the selectors that contain them."""
        texts = list(texts)
        terms = [term for text in texts for term in text.split()]
        if not terms:
            self.lookup.warnings.append(nothing_selected(" ".join(texts), "an empty selection selects nothing"))
        return self.combine([self.intersection(term, within) for term in terms], frozenset.union)

    def intersection(self, term: str, within: tuple[str, ...]) -> _Part:
        texts = term.split(",")
        self.criteria += len(texts)
        if self.criteria > MOST_CRITERIA:
            hint = "select a folder or a tag in place of many names"
            message = f"the selection has more than {MOST_CRITERIA:,} criteria"
            raise ProblemsError([Problem("bad-selection", message, hint=hint)])
        if "" in texts:
            hint = "write a,b for what is in both: no space next to the comma"
            self.problems.add("bad-selection", f'empty operand next to "," in the selector "{term}"', hint=hint)
            return _Part(frozenset())
        parts: list[_Part] = []
        criteria: list[Criterion] = []
        for text in texts:
            with self.problems.collecting():
                criteria.append(parse_criterion(text))
                parts.append(self.criterion(criteria[-1], within))
        result = self.combine(parts, frozenset.intersection)
        if all(part.ids for part in parts) and not result.ids and _NO_WARNING.isdisjoint(c.method for c in criteria):
            self.lookup.warnings.append(
                nothing_selected(term, "each part matches something, but no node matches all parts")
            )
        return result

    def criterion(self, criterion: Criterion, within: tuple[str, ...], indirect: Indirect | None = None) -> _Part:
        if criterion.method == "selector":
            selected = self.selector(criterion.value, within)
            ids = selected.ids
        else:
            selected = _Part(frozenset())
            ids = frozenset(search(self.lookup, criterion))
        return self.with_tests(self.related(criterion, ids), selected.waiting, indirect or self.context.indirect)

    def related(self, criterion: Criterion, ids: frozenset[str]) -> set[str]:
        """The ids and what the operators of the criterion add to them."""
        above = self.graph.dag.pred
        if criterion.relatives:
            return relatives(above, self.below(criterion, ids, inf), inf)
        return relatives(above, ids, criterion.parents) | self.below(criterion, ids, criterion.children)

    def below(self, criterion: Criterion, ids: frozenset[str], most: float) -> set[str]:
        """The ids and what is up to `most` edges below; of `state:modified` only what its changed columns reach."""
        descendants = relatives(self.graph.dag.succ, ids, most)
        if not most or criterion.method != "state" or not criterion.value.startswith("modified"):
            return descendants
        reached = self.lookup.column_reach(ids)
        return descendants if reached is None else descendants & set(reached)

    def selector(self, name: str, within: tuple[str, ...]) -> _Part:
        """Return what a named selector selects; raise ProblemsError where it is unknown or contains itself."""
        selectors = self.context.selectors
        if name not in selectors:
            message = f'there is no selector "{name}"'
            raise ProblemsError([Problem("unknown-selector", message, hint=did_you_mean(name, selectors))])
        if name in within:
            cycle = cycle_path(within[within.index(name) :])
            message = f"a selector selects by itself: {cycle}"
            raise ProblemsError([Problem("selector-cycle", message, hint="take one of them out of the other")])
        return self.definition(selectors[name].definition, (*within, name))

    def definition(self, definition: Definition, within: tuple[str, ...]) -> _Part:
        """Return what a definition of selectors.yml selects; its problems get the place of their part of it."""
        if id(definition) not in self.selected:
            self.selected[id(definition)] = self._of_definition(definition, within)
        return self.selected[id(definition)]

    def _of_definition(self, definition: Definition, within: tuple[str, ...]) -> _Part:
        if isinstance(definition, Combination):
            operation = frozenset.union if definition.operation == "union" else frozenset.intersection
            part = self.combine([self.definition(part, within) for part in definition.parts], operation)
        else:
            part = _Part(frozenset())
            with self.at_place(definition.place):
                if isinstance(definition, SelectionText):
                    part = self.union([definition.text], within)
                else:
                    part = self.criterion(_criterion(definition), within, definition.indirect)
        if not definition.exclude:
            return part
        excluded = self.combine([self.definition(part, within) for part in definition.exclude], frozenset.union)
        return self.combine((part, excluded), frozenset.difference)

    @contextmanager
    def at_place(self, place: Place) -> Iterator[None]:
        """Give the problems that are found inside, and have no place yet, this one."""
        before, warnings_before = self.problems, len(self.lookup.warnings)
        self.problems = Problems()
        try:
            with self.problems.collecting():
                yield
        finally:
            inner, self.problems = self.problems, before
            before.extend(replace(problem, place=problem.place or place) for problem in inner)
            warnings = self.lookup.warnings
            warnings[warnings_before:] = [
                replace(warning, place=warning.place or place) for warning in warnings[warnings_before:]
            ]

    def with_tests(self, ids: set[str], waiting: frozenset[str], indirect: Indirect) -> _Part:
        """The ids with the tests of them that may run, as `indirect` says; the others may run with more parents."""
        nodes = self.graph.nodes
        tests = {
            child
            for unique_id in ids
            for child in self.graph.dag.succ[unique_id]
            if child not in ids and isinstance(nodes[child], DataTestNode | UnitTestNode)
        }
        if indirect == "empty":
            return _Part(frozenset(ids))
        if indirect == "eager":
            return _Part(frozenset(ids | tests))
        if indirect == "buildable":
            above = relatives(self.graph.dag.pred, ids, inf)
            sources = {name for name, node in nodes.items() if isinstance(node, SourceNode)}
            ids = ids | {test for test in tests if set(self.graph.dag.pred[test]) <= ids | above | sources}
        return self.complete(_Part(frozenset(ids), waiting | tests))

    def combine(self, parts: Sequence[_Part], operation: Callable[..., frozenset[str]]) -> _Part:
        """The parts under one set operation; a test is combined as selected and as kept back."""
        if not parts:
            return _Part(frozenset())
        ids = reduce(operation, (part.ids for part in parts))
        return self.complete(_Part(ids, reduce(operation, (part.ids | part.waiting for part in parts)) - ids))

    def complete(self, part: _Part) -> _Part:
        """With the tests that were kept back and have all their parents by now."""
        ready = {test for test in part.waiting if set(self.graph.dag.pred[test]) <= part.ids}
        return _Part(part.ids | ready, part.waiting - ready - part.ids)


def _criterion(method: Method) -> Criterion:
    name, *arguments = method.method.split(".")
    return Criterion(
        method.text, name, tuple(arguments), method.value, method.parents, method.children, method.relatives
    )
