"""A dataclass whose methods are compiled late is what the standard library makes of the class."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import sys
import threading
from dataclasses import field
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner import lazy_dataclass

KINDS: dict[str, dict[str, bool]] = {
    "plain": {},
    "frozen": {"frozen": True},
    "by identity": {"frozen": True, "eq": False},
    "by keyword": {"frozen": True, "kw_only": True},
    "slots": {"frozen": True, "slots": True},
    "slots that may change": {"slots": True},
    "no repr": {"frozen": True, "repr": False},
    "no init": {"frozen": True, "init": False, "repr": False, "eq": False},
    "ordered": {"frozen": True, "order": True},
    "ordered slots": {"frozen": True, "slots": True, "order": True},
}


def make(decorator: Any, kind: str) -> type:
    """Return a class with every kind of field."""

    class Value:
        """A value."""

        name: str
        none: None = None
        more: list[str] = field(default_factory=list, hash=False)
        hidden: int = field(default=1, repr=False)
        apart: int = field(default=2, compare=False)
        hashed: str = field(default="h", compare=False, hash=True)
        counted: int = field(default_factory=int, init=False)
        last: str = field(default="l", kw_only=True)
        all_of_them: ClassVar[int] = 0

        @property
        def twice(self) -> str:
            return self.name * 2

    Value.__module__ = __name__
    return decorator(**KINDS[kind])(Value)


OURS = {kind: make(lazy_dataclass.dataclass, kind) for kind in KINDS}
THEIRS = {kind: make(dataclasses.dataclass, kind) for kind in KINDS}
names = st.sampled_from(("a", "b", ""))
given_values = st.fixed_dictionaries(
    {"name": names},
    optional={
        "more": st.lists(names, max_size=1),
        "hidden": st.integers(0, 2),
        "apart": st.integers(0, 2),
        "hashed": names,
        "last": names,
    },
)


def of_pickle(value: Any) -> Any:
    """Return a value as a pickle sets it."""
    _, (cls, *_), state = value.__reduce_ex__(2)
    made = object.__new__(cls)
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
    elif isinstance(state, tuple):
        for name, item in state[1].items():
            setattr(made, name, item)
    else:
        vars(made).update(state)
    return made


def said(make: Any) -> Any:
    """Return what a call returns, or the error that it raises."""
    try:
        return make()
    except Exception as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("kind", KINDS)
@given(one=given_values, other=given_values)
def test_a_value_is_that_of_the_standard_library(kind, one, other):
    if kind == "no init":
        one = other = {}
    found = []
    for cls in (OURS[kind], THEIRS[kind]):
        value, second = cls(**one), cls(**other)
        found.append(
            [
                said(lambda value=value: repr(value)) if KINDS[kind].get("repr", True) else None,
                (value == second, value != second, value == 1, value.__eq__(object())),
                said(lambda value=value, second=second: hash(value) == hash(second))
                if "eq" not in KINDS[kind]
                else None,
                said(lambda value=value, second=second: value < second) if "order" in KINDS[kind] else None,
                said(lambda value=value: dataclasses.asdict(value)),
                said(lambda value=value: dataclasses.asdict(dataclasses.replace(value, name="new"))),
                said(lambda value=value: dataclasses.asdict(copy.copy(value))),
                said(lambda value=value: dataclasses.asdict(of_pickle(value))),
                said(lambda value=value: setattr(value, "name", "new")),
                said(lambda value=value: delattr(value, "name")),
                said(lambda value=value: value.twice),
            ]
        )
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_class_says_what_that_of_the_standard_library_says(kind):
    ours, theirs = make(lazy_dataclass.dataclass, kind), make(dataclasses.dataclass, kind)
    assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
    assert list(map(repr, dataclasses.fields(ours))) == list(map(repr, dataclasses.fields(theirs)))
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__dataclass_params__.frozen == theirs.__dataclass_params__.frozen
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)
    for wrong in ({}, {"name": "a", "unknown": 1}, {"name": "a", "counted": 1}):
        found = [said(lambda cls=cls, wrong=wrong: cls(**wrong)) for cls in (ours, theirs)]
        assert isinstance(found[0], tuple) == isinstance(found[1], tuple)


def own(decorator: Any) -> list[object]:
    """Return what comes of classes with methods of their own, and of those that have bases."""

    @decorator(frozen=True)
    class Own:  # noqa: PLW1641 -- a hash that is made, with `__eq__` that is not
        name: str

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "own"

    @decorator(frozen=True)
    class Hashed:
        name: str

        def __hash__(self) -> int:
            return 7

    @decorator(frozen=True)
    class Base:
        name: str = "b"

        def __post_init__(self) -> None:
            object.__setattr__(self, "name", self.name.upper())

    @decorator(frozen=True)
    class Further(Base):
        size: int = 0

        def __post_init__(self) -> None:
            super().__post_init__()
            object.__setattr__(self, "extra", 1)

    class Plain(Further):
        pass

    assert Plain("first").extra == 1
    both = Further("a", 1)
    return [
        (Own("a") == Own("b"), repr(Own("a")), hash(Own("a")) == hash(Own("a"))),
        (hash(Hashed("a")), Hashed("a") == Hashed("a")),
        (
            Base("a") == both,
            both == Further("A", 1),
            repr(both).rpartition(".")[2],
            hash(both) == hash(Further("A", 1)),
        ),
        (Plain("x", 2).name, said(lambda: setattr(both, "name", "c")), said(lambda: setattr(both, "free", "c"))),
        said(lambda: setattr(Plain("x"), "free", 1)),
        said(lambda: setattr(Plain("x"), "size", 1)),
        said(lambda: decorator(type("Loose", (Base,), {"__annotations__": {}, "__module__": __name__}))),
    ]


def test_own_methods_and_bases_count():
    assert own(lazy_dataclass.dataclass) == own(dataclasses.dataclass)


def test_a_value_that_was_read_before_any_was_made_is_compared():
    """A pickle sets the fields without a call of `__init__`."""
    cls = make(lazy_dataclass.dataclass, "frozen")
    given_ = dataclasses.asdict(THEIRS["frozen"]("a"))
    one, same = object.__new__(cls), object.__new__(cls)
    for value in (one, same):
        vars(value).update(given_)
    assert (one == same, hash(one) == hash(same), repr(one)) == (True, True, repr(cls("a")))


def test_many_threads_may_look_up_a_method_first():
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(50):
            cls = make(lazy_dataclass.dataclass, "frozen")
            found: list[object] = []
            threads = [threading.Thread(target=lambda cls=cls, found=found: found.append(cls("a"))) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert found == [cls("a")] * 4
    finally:
        sys.setswitchinterval(0.005)


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_values_are_made_like_the_later_ones(kind):
    cls, theirs = make(lazy_dataclass.dataclass, kind), make(dataclasses.dataclass, kind)
    calls = (
        lambda cls: cls("a"),
        lambda cls: cls("a", None, ["b"], 2, hashed="c", last="d"),
        lambda cls: cls(name="a", more=[]),
        lambda cls: cls(),
        lambda cls: cls("a", name="b"),
        lambda cls: cls("a", unknown=1),
        lambda cls: cls("a", counted=1),
        lambda cls: cls(*"abcdefghi"),
    )
    expected = [said(lambda call=call: dataclasses.asdict(call(theirs))) for call in calls]
    for _ in range(6):
        found = [said(lambda call=call: dataclasses.asdict(call(cls))) for call in calls]
        assert found == expected


def test_a_class_without_a_docstring_has_its_name() -> None:
    @lazy_dataclass.dataclass
    class Undocumented:
        name: str

    assert Undocumented.__doc__ == "Undocumented"
