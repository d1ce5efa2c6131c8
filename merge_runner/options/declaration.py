"""How an option or argument of a command is declared: as a field of a frozen dataclass, by its type and this.

A flag is a `bool`, a choice a `Literal`, a number an `int` or `float`, a file or folder a `Path`, what may be given
several times a `tuple`; anything else is a text. Where an option is not given, its value is None, False or ().

A group that is only a base of other options is a dataclass without methods: to generate them takes milliseconds, which
every command would wait for.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

_KEY = "declaration"


@dataclass(frozen=True, repr=False, eq=False)
class Declaration:
    """An option, or an argument where `flags` is empty, apart from its name and type, which are those of the field."""

    flags: tuple[str, ...] = ()
    help: str = ""
    recorded: bool = False
    """Whether run_results.json has it, for `retry`."""
    metavar: str | None = None
    least: float | None = None
    most: float | None = None
    above: bool = False
    """Whether a number must be greater than `least`."""
    path: Literal["any", "file", "folder"] = "any"
    words: bool = False
    """Whether it takes several words, up to the next option."""
    bare: str | None = None
    """Its value where it is given without one; None: it needs one."""
    parse: Callable[[str], Any] | None = None
    """Makes the value of the text. Raises ValueError."""
    complete: Callable[..., Any] | None = None
    """Completes its values in a shell."""
    required: bool = True
    """Whether an argument must be given."""
    shows_default: bool = False


@dataclass(frozen=True, repr=False, eq=False)
class DeclaredOption:
    """An option or argument of a command: its name, the type of (each of) its values, and how it is declared."""

    name: str
    type: Any
    several: bool
    default: Any
    declaration: Declaration

    @property
    def is_flag(self) -> bool:
        """Whether it has no value."""
        return self.type is bool

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values that it may have; none where it has no such list."""
        return get_args(self.type) if get_origin(self.type) is Literal else ()


def option(*flags: str, help: str, default: Any = None, **settings: Any) -> Any:
    """Declare an option that takes a value. `settings` are fields of `Declaration`."""
    return _declare(default, Declaration(flags, help, **settings))


def flag(*flags: str, help: str, **settings: Any) -> Any:
    """Declare an option without a value."""
    return _declare(False, Declaration(flags, help, **settings))


def several(*flags: str, help: str, **settings: Any) -> Any:
    """Declare an option that may be given several times."""
    return _declare((), Declaration(flags, help, **settings))


def argument(default: Any = None, **settings: Any) -> Any:
    """Declare an argument."""
    return _declare(default, Declaration(**settings))


def _declare(default: Any, declaration: Declaration) -> Any:
    return field(default=default, metadata={_KEY: declaration})


def declared_options(kind: type, groups: tuple[type, ...] | None = None) -> Iterator[DeclaredOption]:
    """Yield what a dataclass declares: its own options, then those of its bases, in their order.

    `groups` are the classes whose options count; None: all.
    """
    types_of = get_type_hints(kind)
    for group in kind.__mro__:
        if groups is None or group in groups:
            for name in vars(group).get("__annotations__", ()):
                own_field = kind.__dataclass_fields__[name]  # type: ignore[attr-defined]
                if _KEY in own_field.metadata:
                    yield _declared_option(name, types_of[name], own_field.default, own_field.metadata[_KEY])


def _declared_option(name: str, hint: Any, default: Any, declaration: Declaration) -> DeclaredOption:
    if get_origin(hint) in (Union, types.UnionType):
        hint = next(part for part in get_args(hint) if part is not types.NoneType)
    several = get_origin(hint) is tuple
    return DeclaredOption(name, get_args(hint)[0] if several else hint, several, default, declaration)
