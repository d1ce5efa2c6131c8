"""Dataclasses whose methods are compiled when they are looked up first: a class is made in a tenth of the time.

The standard library writes the text of up to six methods of each class and compiles them all: 0.5 ms for a frozen class
on Python 3.11, and `lint` imports nearly 300. The fields, and all else that `dataclasses` and pydantic read of a class,
are the standard library's here as well. `__init__` is compiled for classes with many values: of two thirds of those
that a run makes values of, there are fewer than it takes to pay.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import partial
from reprlib import recursive_repr
from threading import RLock
from typing import TYPE_CHECKING, Any, cast

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls: type | None = None, /, **options: bool) -> Any:
        """Make a dataclass of a class; the options are those of `dataclasses.dataclass`."""

        def made(each: type) -> type:
            return _late(each, **options) if options.keys() <= _OPTIONS else dataclasses.dataclass(**options)(each)

        return made if cls is None else made(cls)


_OPTIONS = {"init", "repr", "eq", "order", "frozen", "kw_only", "slots"}
"""With others a class is made by the standard library as a whole."""


def _late(
    cls: type,
    *,
    init: bool = True,
    repr: bool = True,
    eq: bool = True,
    order: bool = False,
    frozen: bool = False,
    kw_only: bool = False,
    slots: bool = False,
) -> type:
    hashes = eq and vars(cls).get("__hash__") is None  # which is None as well where a class has `__eq__` alone
    cls = _without_methods(cls, frozen=frozen, kw_only=kw_only, slots=slots)
    wanted = {"__repr__": (repr, _repr), "__eq__": (eq, _comparison("__eq__", "=="))}
    if order:
        wanted |= {name: (True, _comparison(name, operator)) for name, operator in _ORDER.items()}
    if frozen and slots:  # a pickle would set the fields as anything else does
        wanted |= {"__getstate__": (True, _getstate), "__setstate__": (True, _setstate)}
    if init and "__init__" not in vars(cls):
        setattr(cls, "__init__", _LateInit(cls))  # noqa: B010 -- mypy refuses it
    for name, (is_wanted, make) in wanted.items():
        if is_wanted and name not in vars(cls):
            setattr(cls, name, _Late(cls, name, make))
    if hashes:
        setattr(cls, "__hash__", _Late(cls, "__hash__", _hash) if frozen else None)  # noqa: B010 -- mypy refuses it
    if frozen:
        _freeze(cls)
    return cls


def _without_methods(cls: type, *, frozen: bool, kw_only: bool, slots: bool) -> type:
    """Return what the standard library makes of a class that is not frozen; for a frozen one it compiles two methods.

    It refuses a class that is frozen otherwise than its bases, so that these are not for as long. Raises TypeError.
    """
    bases = [base.__dataclass_params__ for base in cls.__mro__[1:] if hasattr(base, "__dataclass_params__")]
    if bases and frozen != any(base.frozen for base in bases):
        kinds = ("non-frozen", "frozen") if bases[0].frozen else ("frozen", "non-frozen")
        raise TypeError(f"cannot inherit {kinds[0]} dataclass from a {kinds[1]} one")
    annotations = vars(cls).get("__annotations__", {})
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # else it asks `inspect` for a signature, 0.2 ms a class
    # It looks for these names in each annotation that is a text, which takes a third of the time.
    texts = {name: text for name, text in annotations.items() if isinstance(text, str) and not _SPECIAL.search(text)}
    with _MAKING:
        for base in bases:
            base.frozen = False
        annotations.update(dict.fromkeys(texts, object))
        try:
            made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only, slots=slots)(cls)
        finally:
            annotations.update(texts)
            for base in bases:
                base.frozen = frozen
    for name, text in texts.items():
        made.__dataclass_fields__[name].type = text
    return cast(type, made)


_MAKING = RLock()
_SPECIAL = re.compile("ClassVar|InitVar|KW_ONLY")


class _Late:
    """Is a method of a class until it is looked up, which makes it."""

    def __init__(self, cls: type, name: str, make: Callable[[type], Any]) -> None:
        self._cls = cls
        self._name = name
        self._make = make

    def __get__(self, instance: object, owner: type) -> Any:
        method = self._make(self._cls)
        method.__qualname__ = f"{self._cls.__qualname__}.{self._name}"
        setattr(self._cls, self._name, method)
        return method.__get__(instance, owner)


class _LateInit(_Late):
    """Is the `__init__` of a class: it sets the fields of the first values one by one, and is compiled for others."""

    def __init__(self, cls: type) -> None:
        super().__init__(cls, "__init__", _init)
        self._left = _FIRST
        self._found: tuple[Field[Any], ...] | None = None

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None or self._left <= 0:
            return super().__get__(instance, owner)
        self._left -= 1
        return partial(self._set, instance)

    def _set(self, value: Any, /, *arguments: Any, **named: Any) -> None:
        found = self._found
        if found is None:
            found = self._found = _fields(self._cls)
        given = dict(zip([each.name for each in found if each.init and not each.kw_only], arguments, strict=False))
        taken = len(given) == len(arguments) and given.keys().isdisjoint(named)
        given.update(named)
        made = {}
        for each in found:
            if each.init and each.name in given:
                made[each.name] = given.pop(each.name)
            elif each.default_factory is not MISSING:
                made[each.name] = each.default_factory()
            elif each.init and each.default is not MISSING:
                made[each.name] = each.default
            elif each.init:
                taken = False
        if given or not taken:  # what is missing or unknown is an error, and has the words of any other call
            self._cls.__init__(value, *arguments, **named)  # type: ignore[misc]
            return
        for name, item in made.items():
            object.__setattr__(value, name, item)
        if hasattr(self._cls, "__post_init__"):
            value.__post_init__()


_FIRST = 20
"""To compile takes as long as to make so many values and more."""


def _init(cls: type) -> Any:
    found = _fields(cls)
    taken = [each for each in found if each.init]
    ordered = [*(each for each in taken if not each.kw_only), *(each for each in taken if each.kw_only)]
    parameters: list[str] = []
    known: dict[str, Any] = {"_set": object.__setattr__, "_factory": _FACTORY}
    for each in ordered:
        if each.kw_only and "*" not in parameters:
            parameters.append("*")
        default = ""
        if each.default_factory is not MISSING:
            default = "=_factory"
        elif each.default is not MISSING:
            default = f"=_of_{each.name}"
            known[f"_of_{each.name}"] = each.default
        parameters.append(each.name + default)
    lines = []
    for each in found:
        if each.default_factory is not MISSING:
            known[f"_of_{each.name}"] = each.default_factory
            made = f"_of_{each.name}()"
            value = f"{made} if {each.name} is _factory else {each.name}" if each.init else made
            lines.append(f"_set(self, {each.name!r}, {value})")
        elif each.init:
            lines.append(f"_set(self, {each.name!r}, {each.name})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    init = _compiled(cls, "__init__", parameters, lines or ["pass"], known)
    init.__annotations__ = {each.name: each.type for each in ordered} | {"return": None}
    return init


class _Factory:
    """The default of a parameter whose value is made for each new object."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


def _getstate(cls: type) -> Any:
    return _compiled(cls, "__getstate__", (), [f"return [{', '.join(f'self.{each.name}' for each in _fields(cls))}]"])


def _setstate(cls: type) -> Any:
    lines = [f"_set(self, {each.name!r}, state[{number}])" for number, each in enumerate(_fields(cls))]
    return _compiled(cls, "__setstate__", ["state"], lines or ["pass"], {"_set": object.__setattr__})


def _repr(cls: type) -> Any:
    shown = ", ".join(f"{each.name}={{self.{each.name}!r}}" for each in _fields(cls) if each.repr)
    line = f'return f"{{self.__class__.__qualname__}}({shown})"'
    return recursive_repr("...")(_compiled(cls, "__repr__", (), [line]))


_ORDER = {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}


def _comparison(name: str, operator: str) -> Callable[[type], Any]:
    def make(cls: type) -> Any:
        names = [each.name for each in _fields(cls) if each.compare]
        compared = f"{_tuple('self', names)} {operator} {_tuple('other', names)}"
        line = f"return {compared} if other.__class__ is self.__class__ else NotImplemented"
        return _compiled(cls, name, ["other"], [line])

    return make


def _hash(cls: type) -> Any:
    names = [each.name for each in _fields(cls) if (each.compare if each.hash is None else each.hash)]
    return _compiled(cls, "__hash__", (), [f"return hash({_tuple('self', names)})"])


def _fields(cls: type) -> tuple[Field[Any], ...]:
    return fields(cls)


def _tuple(value: str, names: Iterable[str]) -> str:
    return f"({''.join(f'{value}.{name},' for name in names)})"


def _compiled(
    cls: type, name: str, parameters: Sequence[str], lines: Sequence[str], known: dict[str, Any] | None = None
) -> Any:
    """Return a method; its text has nothing from outside but the names of fields."""
    known, made = known or {}, dict[str, Any]()
    body = "\n  ".join(lines)
    text = f"def make({', '.join(known)}):\n def {name}({', '.join(('self', *parameters))}):\n  {body}\n return {name}"
    exec(text, vars(sys.modules[cls.__module__]), made)
    return made["make"](**known)


def _freeze(cls: Any) -> None:
    """Refuse to set or delete the fields of a value, as the standard library does."""
    names = cls.__dataclass_fields__

    def refuse_set(self: Any, name: str, value: Any) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def refuse_delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    cls.__setattr__ = refuse_set
    cls.__delattr__ = refuse_delete
    cls.__dataclass_params__.frozen = True
