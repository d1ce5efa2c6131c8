"""Whether conditions that hold for a row make another one hold for it; unknown where not certain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain

from merge_runner.pruning.logic.budget import Budget
from merge_runner.pruning.logic.compared_values import MANY, follows, hull, is_among, is_perhaps_among
from merge_runner.pruning.logic.constant_value import NULL, TRUE, Lit
from merge_runner.pruning.logic.fold import holds, join_terms, negate_term, replaced
from merge_runner.pruning.logic.restriction import COMPARISONS, STRICT, inside_functions, is_strict, restricted_columns
from merge_runner.pruning.logic.term import FLIPPED, Call, Col, Term, columns, conjuncts, is_constant
from merge_runner.pruning.logic.time_units import PARTS, of_inside, of_part, of_start, order_of, unit_of

_MAX_SPLITS, _MAX_LEGS = 3, 8
"""How deep the legs of ORs that hold are tried one by one, and of how many legs."""
_MAX_CASES = 1_000
"""How many of these are tried for one question: each multiplies the cases below it. What takes more is not proven."""


class Facts:
    """Conditions that are all true of a row, in a form that answers questions.

    `not_null` are terms that are known not to be NULL besides.
    """

    def __init__(
        self, terms: Iterable[Term], not_null: Iterable[Term] = (), depth: int = 0, cases: Budget | None = None
    ) -> None:
        self.terms: dict[Term, None] = {}
        for term in terms:
            for part in conjuncts(term):
                self.terms.setdefault(part)
        self._depth = depth
        self._cases = cases or Budget(_MAX_CASES)
        self._same: dict[Term, Term] = {}
        self.not_null = tuple(not_null)
        self._read_terms()

    def _read_terms(self) -> None:
        self._equate()
        if self._same:
            self.terms.update(dict.fromkeys([self._canonical(term) for term in self.terms]))
        self._put_in_constants()
        self._bounds: dict[Term, list[tuple[str, Term]]] = {}
        self._lists: dict[Term, list[tuple[Term, ...]]] = {}
        self._excluded: dict[Term, set[Term]] = {}
        self._not_null: set[Term] = set()
        self._null: set[Term] = set()
        for term in self.terms:
            self._learn(term)
        for term in self.not_null:
            self._reject_null(self._canonical(term))

    def _learn(self, term: Term) -> None:
        if not isinstance(term, Call):
            return
        name, arguments = term
        if name == "<=>" and isinstance(arguments[1], Lit):
            name = "="
        if name in COMPARISONS:
            left, right = arguments
            self._bounds.setdefault(left, []).append((name, right))
            if not is_constant(right):
                self._bounds.setdefault(right, []).append((FLIPPED[name], left))
            self._reject_null(left)
            self._reject_null(right)
        elif name == "in":
            self._lists.setdefault(arguments[0], []).append(arguments[1:])
            self._reject_null(arguments[0])
        elif name == "notin":
            self._excluded.setdefault(arguments[0], set()).update(arguments[1:])
            self._reject_null(arguments[0])
        elif name == "notnull":
            self._reject_null(arguments[0])
        elif name == "isnull":
            self._null.add(arguments[0])
        elif name == "or":
            in_list = _as_list(arguments)
            if in_list is not None:
                self._learn(in_list)
        elif name in ("like", "regexplike", "startswith"):
            self._reject_null(arguments[0])

    def _reject_null(self, term: Term) -> None:
        self._not_null.add(term)
        if isinstance(term, Call) and is_strict(term):
            for argument in term.args:
                if not is_constant(argument):
                    self._reject_null(argument)

    def _equate(self) -> None:
        for term in self.terms:
            if isinstance(term, Call) and term.name == "=":
                left, right = (self._canonical(argument) for argument in term.args)
                if left != right and not is_constant(left) and not is_constant(right):
                    # Put in for a part of it, a term would grow with each look for its equals.
                    longer, equal = (left, right) if _contains(left, right) else (right, left)
                    self._same[longer] = equal

    def _put_in_constants(self) -> None:
        """What is compared with a column that has one value is compared with that value."""
        constants: dict[Term, Term] = {}
        for term in self.terms:
            if (
                isinstance(term, Call)
                and term.name == "="
                and isinstance(term.args[0], Col)
                and is_constant(term.args[1])
            ):
                constants.setdefault(*term.args)
        for term in list(self.terms):
            if isinstance(term, Call) and term.name in COMPARISONS and not is_constant(term.args[1]):
                self.terms.setdefault(replaced(term, constants.get))

    def _canonical(self, term: Term) -> Term:
        for _ in self._same:  # no chain of equalities is longer
            substituted = replaced(term, self._same.get)
            if substituted == term:
                break
            term = substituted
        return term

    def same_as(self, term: Term) -> list[Term]:
        """The terms that are equal to it, itself left out."""
        return [other for other in self._equal.get(self._canonical(term), ()) if other != term]

    @cached_property
    def _equal(self) -> Mapping[Term, Sequence[Term]]:
        """The terms of all equalities, by the one that stands for them."""
        groups: dict[Term, list[Term]] = {}
        for term in dict.fromkeys((*self._same, *self._same.values())):
            groups.setdefault(self._canonical(term), []).append(term)
        return groups

    def implies(self, goal: Term) -> bool | None:
        """True: proven. None: a condition on the same columns may do so, which is not known. False: none does."""
        if self._depth == 0:
            self._cases.left = _MAX_CASES
        return self._implies(self._canonical(goal))

    def never_null(self, term: Term) -> bool:
        """Whether the term cannot be NULL."""
        return self._never_null(self._canonical(term))

    def _implies(self, goal: Term) -> bool | None:
        if goal == TRUE or goal in self.terms:
            return True
        if isinstance(goal, Lit):
            return False
        if isinstance(goal, Col):
            goal = Call("=", (goal, TRUE))
        if goal.name == "and":
            return _all(self._implies(part) for part in goal.args)
        answer = self._any_leg(goal) if goal.name == "or" else self._single(goal)
        if answer is not True and self._depth < _MAX_SPLITS and self._by_cases(goal):
            return True
        return None if answer is False and (self._cases.left < 0 or self._is_doubtful(goal)) else answer

    def _is_doubtful(self, goal: Call) -> bool:
        """Whether the columns of the goal are restricted, and one of the two is written in a way that is not known."""
        own = {whole for column in columns(goal) for whole in (column, Col(column.relation, column.name))}
        if self._restricted.isdisjoint(own):
            return False
        return not self._strange.isdisjoint(own) or not self._restricted.isdisjoint(inside_functions(goal))

    @cached_property
    def _restricted(self) -> set[Col]:
        return restricted_columns(self.terms)

    @cached_property
    def _strange(self) -> set[Col]:
        """The restricted columns inside functions."""
        return {column for term in self.terms for column in inside_functions(term)} & self._restricted

    def _any_leg(self, goal: Call) -> bool | None:
        in_list = _as_list(goal.args)
        if in_list is not None:
            if self._in(in_list.args[0], in_list.args[1:]):
                return True
            if len(goal.args) > MANY:
                return False
        answers = map(self._implies, goal.args)
        few = self._depth < _MAX_SPLITS and len(goal.args) <= _MAX_LEGS
        return _any(chain(answers, self._one_or_other(goal)) if few else answers)

    def _one_or_other(self, goal: Call) -> Iterator[bool | None]:
        """Whether the other legs hold of the rows of which one leg does not, for each leg that is never NULL."""
        for leg in goal.args:
            if isinstance(leg, Call) and leg.name in COMPARISONS and all(map(self._never_null, leg.args)):
                other_legs = join_terms("or", [other for other in goal.args if other != leg])
                if not self._cases.take():
                    yield None
                    return
                yield self._case([*self.terms, negate_term(leg)]).implies(other_legs)

    def _by_cases(self, goal: Call) -> bool:
        """Whether every leg of some OR that holds proves it, or of an OR every value of a list."""
        for term in self.terms:
            legs = _legs(term, lists=goal.name == "or")
            if legs and len(legs) <= _MAX_LEGS:
                other_terms = [other for other in self.terms if other != term]
                # A leg that the other terms contradict cannot be the one that holds. They are asked without cases of
                # their own: this only saves cases, and must not multiply them.
                facts = Facts(other_terms, self.not_null, _MAX_SPLITS)
                legs = tuple(leg for leg in legs if facts.implies(negate_term(leg)) is not True)
                if all(self._cases.take() and self._case([*other_terms, leg]).implies(goal) is True for leg in legs):
                    return True
        return False

    def _case(self, terms: Iterable[Term]) -> Facts:
        return Facts(terms, self.not_null, self._depth + 1, self._cases)

    def _single(self, goal: Call) -> bool | None:
        name, arguments = goal
        if name == "<=>":
            left, right = arguments
            if left == right:
                return True
            name = "="
        if name in COMPARISONS:
            return self._comparison(name, *arguments)
        if name == "in":
            return self._in(arguments[0], arguments[1:])
        if name == "notin":
            return _all(self._comparison("<>", arguments[0], value) for value in arguments[1:])
        if name == "notnull":
            return self._never_null(arguments[0])
        return None if name == "opaque" else False

    def _comparison(self, name: str, left: Term, right: Term) -> bool | None:
        if left == right:
            return name in ("=", "<=", ">=") and self._never_null(left)
        if name == "<>" and right in self._excluded.get(left, ()):
            return True
        for values in self._lists.get(left, ()):
            orders = [order_of(value, right) for value in values]
            if all(order is not None and holds(name, order) for order in orders):
                return True
        doubtful = False
        for operator, value in self.bounds(left):
            answer = follows(operator, value, name, right)
            if answer:
                return True
            doubtful |= answer is None
        if isinstance(left, Call) and left.name == "coalesce":
            return self._coalesce(name, left, right)
        if name == "=":
            return _all(self._comparison(end, left, right) for end in (">=", "<="))
        return None if doubtful else False

    def _coalesce(self, name: str, left: Call, right: Term) -> bool:
        """`coalesce(a, 0) = 0` holds where a = 0 does, and where a is NULL."""
        first, *alternatives = left.args
        if self._implies(Call(name, (first, right))) is True:
            return True
        if first not in self._null:
            return False
        remaining = alternatives[0] if len(alternatives) == 1 else Call("coalesce", tuple(alternatives))
        order = order_of(remaining, right)
        if order is not None:
            return holds(name, order)
        return self._implies(Call(name, (remaining, right))) is True

    def _in(self, subject: Term, values: tuple[Term, ...]) -> bool | None:
        goal_values, doubtful = set(values), False
        lists = [*self._lists.get(subject, ()), *((value,) for name, value in self.bounds(subject) if name == "=")]
        for legs in lists:
            missing = [leg for leg in legs if leg not in goal_values and not is_among(leg, values)]
            if not missing:
                return True
            doubtful |= all(is_perhaps_among(leg, values) for leg in missing)
        return None if doubtful else False

    def _never_null(self, term: Term) -> bool:
        if isinstance(term, Lit):
            return term != NULL
        if term in self._not_null:
            return True
        if isinstance(term, Call):
            if term.name == "coalesce":
                return any(self._never_null(argument) for argument in term.args)
            if term.name in ("isnull", "notnull"):
                return True
            if term.name in STRICT or term.name.startswith("cast:"):
                return all(self._never_null(argument) for argument in term.args)
        return False

    def bounds(self, term: Term) -> list[tuple[str, Term]]:
        """Comparisons with constants and other terms that hold for it, those that follow from truncations included."""
        bounds = list(self._bounds.get(term, ()))
        for values in self._lists.get(term, ()):
            bounds += hull(values)
        if isinstance(term, Call):
            unit = unit_of(term)
            if unit is not None:
                for name, value in self.bounds(term.args[0]):
                    bounds += of_start(name, value, unit)
            if term.name in PARTS:
                bounds += of_part(term.name, self.bounds(term.args[0]))
        for other in self._bounds:
            if isinstance(other, Call) and other.args[:1] == (term,) and (unit := unit_of(other)) is not None:
                for name, value in self._bounds[other]:
                    bounds += of_inside(name, value, unit)
        return bounds

    def constant(self, term: Term, *, whole: bool = False) -> bool:
        """Whether the term has one value in all rows; `whole` says that its values are whole numbers."""
        bounds = self.bounds(self._canonical(term))
        lows = [value for name, value in bounds if name == ">="]
        for name, value in bounds:
            if name == "=" and is_constant(value):
                return True
            if name == "<=" and is_constant(value) and any(order_of(low, value) == 0 for low in lows):
                return True
            if whole and name == "<" and isinstance(value, Lit) and value.kind == "number":
                below = Lit("number", value.value - 1)
                if any(order_of(low, below) in (0, 1) for low in lows):
                    return True
        return term in self._null


def _as_list(legs: tuple[Term, ...]) -> Call | None:
    """The IN that an OR of values, and of lists, of one term is."""
    tests = [leg for leg in legs if isinstance(leg, Call) and (leg.name == "in" or _is_one_value(leg))]
    subjects = {leg.args[0] for leg in tests}
    if len(tests) < len(legs) or len(subjects) > 1:
        return None
    return Call("in", (*subjects, *(value for leg in tests for value in leg.args[1:])))


def _is_one_value(leg: Call) -> bool:
    return leg.name == "=" and isinstance(leg.args[1], Lit)


def _contains(term: Term, part: Term) -> bool:
    return term == part or (isinstance(term, Call) and any(_contains(argument, part) for argument in term.args))


def _legs(term: Term, *, lists: bool) -> tuple[Term, ...]:
    """The conditions of which an OR says that one holds; with `lists` IN says so as well."""
    if isinstance(term, Call) and term.name == "in" and lists:
        return tuple(Call("=", (term.args[0], value)) for value in term.args[1:])
    return term.args if isinstance(term, Call) and term.name == "or" else ()


def _all(answers: Iterable[bool | None]) -> bool | None:
    return _decided(answers, by=False)


def _any(answers: Iterable[bool | None]) -> bool | None:
    return _decided(answers, by=True)


def _decided(answers: Iterable[bool | None], *, by: bool) -> bool | None:
    """The AND (`by` False) or OR (True) of answers in three-valued logic: one of them that is `by` decides."""
    unknown = False
    for answer in answers:
        if answer is by:
            return by
        unknown |= answer is None
    return None if unknown else not by
