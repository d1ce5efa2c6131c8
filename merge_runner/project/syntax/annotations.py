"""What is checked of a value in addition to its type, and how its key is written: annotations of the types of files.

pydantic asks them when something is validated, by its protocol `__get_pydantic_core_schema__`. They do not import it:
what an earlier run has kept is used without validating anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, get_args, get_origin, get_type_hints

CLOSED: Mapping[str, str] = {"extra": "forbid"}
"""pydantic's configuration of a dataclass that refuses unknown keys."""


@dataclass(frozen=True, eq=False)
class Before:
    """A function that is called with the value before its type is checked."""

    func: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core.core_schema import no_info_before_validator_function

        return no_info_before_validator_function(self.func, handler(source))


@dataclass(frozen=True, eq=False)
class After:
    """A function that is called with the value after its type has been checked."""

    func: Callable[[Any], Any]

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core.core_schema import no_info_after_validator_function

        return no_info_after_validator_function(self.func, handler(source))


@dataclass(frozen=True, eq=False)
class Limits:
    """The smallest number, the smallest length, and whether the value has to be of the type itself."""

    ge: int | None = None
    min_length: int | None = None
    strict: bool | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        limits = {"ge": self.ge, "min_length": self.min_length, "strict": self.strict}
        return {**handler(source), **{name: value for name, value in limits.items() if value is not None}}


StrictBool = Annotated[bool, Limits(strict=True)]
StrictInt = Annotated[int, Limits(strict=True)]


@dataclass(frozen=True, eq=False)
class Key:
    """The keys under which a file writes a field of a `Keyed` class, the usual one first.

    `description` and `examples` are for the documentation of an option of a rule.
    """

    names: tuple[str, ...]
    description: str | None = None
    examples: tuple[Any, ...] = ()


class Keyed:
    """A dataclass whose fields may have a `Key`."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        schema = handler(source)
        hints = get_type_hints(cls, include_extras=True)
        for field in handler.resolve_ref_schema(schema)["schema"]["fields"]:
            names = written_as(field["name"], hints[field["name"]])
            if names != (field["name"],):
                field["validation_alias"] = names[0] if len(names) == 1 else [[name] for name in names]
        return schema


def written_as(name: str, hint: Any) -> tuple[str, ...]:
    """Return the keys under which a file may write the field `name` of the type `hint`, the usual one first.

    The options of a rule of another package may have an alias of pydantic instead of a `Key`.
    """
    for extra in get_args(hint)[1:] if get_origin(hint) is Annotated else ():
        if isinstance(extra, Key):
            return extra.names
        alias = getattr(extra, "validation_alias", None)
        if alias is not None:
            return tuple(str(choice) for choice in getattr(alias, "choices", (alias,)))
    return (name,)
