"""Values in the place of tables and vars while a model is rendered, so that its text shows where each of them went."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

from merge_runner.relation import Relation
from merge_runner.template.capture import Capture
from merge_runner.template.context import Context
from merge_runner.template.literal import identifier, literal

_JINJA = re.compile(r"\{[{%#]")
_DAY = date(1871, 3, 17)
"""A day and a number that no project has, and no pattern writes."""
_NUMBER = 918_273_645_000


class Markers:
    """The context of a model with a marker for each of its tables, and for each of `names` among its vars."""

    def __init__(self, context: Context, names: frozenset[str]) -> None:
        """Vars that are lists, dicts, booleans or NULL keep their values: no text shows where these went."""
        self._calls: dict[str, str] = {}
        values = {name: context.vars[name] for name in sorted(names) if name in context.vars}
        vars_ = {name: self._var(name, value, nth) for nth, (name, value) in enumerate(values.items())}
        self.context = replace(
            context,
            this=self._table("this", "this") if context.this is not None else None,
            resolve_ref=self._tables(context.resolve_ref, lambda name: f"ref({name!r})"),
            resolve_source=self._tables(
                context.resolve_source, lambda *names: f"source({', '.join(map(repr, names))})"
            ),
            vars=ChangedValues(context.vars, vars_),
        )

    def written(self, text: str, captured: Capture) -> str:
        """Return a rendered text with the calls that markers mean, and with its own braces kept from Jinja."""
        calls = dict(self._calls)
        for feed in captured.changes:
            calls[f"changes_of_{feed.name}"] = f"{{{{ changes({feed.name!r}) }}}}"
        names = "|".join(re.escape(marker) for marker in sorted(calls, key=len, reverse=True))
        text = _JINJA.sub(lambda braces: "{{ '" + braces.group() + "' }}", text)
        return re.sub(names, lambda marker: calls[marker.group()], text) if names else text

    def _tables(self, resolve: Callable[..., Relation], call: Callable[..., str]) -> Callable[..., Relation]:
        def resolve_table(*names: str) -> Relation:
            resolve(*names)  # an unknown one is an error as ever
            return self._table("_".join(names), call(*names))

        return resolve_table

    def _table(self, name: str, call: str) -> Relation:
        token = f"marker_{name.encode().hex()}_for_a_table"
        self._calls[token] = f"{{{{ {call} }}}}"
        return Relation(token)

    def _var(self, name: str, value: Any, nth: int) -> Any:
        marker = altered(value, nth)
        if isinstance(value, bool) or not isinstance(value, (str, int, date)):
            return value
        forms = {
            str(marker): "",
            **({identifier(marker): " | identifier"} if isinstance(value, str) else {}),
            literal(marker): " | literal",
        }
        for form, filters in forms.items():
            self._calls[form] = f"{{{{ var({name!r}){filters} }}}}"
        return marker


class ChangedValues(Mapping[str, Any]):
    """A mapping in which some keys have other values; `change` makes those of all others when they are asked for."""

    def __init__(
        self, values: Mapping[str, Any], changes: Mapping[str, Any], change: Callable[[Any], Any] = lambda value: value
    ) -> None:
        self._values = values
        self._changes = changes
        self._change = change

    def __getitem__(self, name: str) -> Any:
        return self._changes[name] if name in self._changes else self._change(self._values[name])

    def __contains__(self, name: object) -> bool:
        return name in self._changes or name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._values), **dict.fromkeys(self._changes)})

    def __len__(self) -> int:
        return len(set(self))


def altered(value: Any, nth: int = 0) -> Any:
    """Return another value of the same type; `nth` makes several of them."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, datetime):
        return datetime.combine(_DAY, datetime.min.time(), value.tzinfo) + timedelta(seconds=nth)
    if isinstance(value, date):
        return _DAY + timedelta(days=nth)
    if isinstance(value, int):
        return _NUMBER + nth
    if isinstance(value, (list, tuple)):
        return [*value, altered(value[-1] if value else "")]
    if isinstance(value, Mapping):
        return {**value, "marker": altered(next(iter(value.values()), ""))}
    if isinstance(value, str) or value is None:
        return f"marker_{nth}_for_a_var"
    return type(value)(_NUMBER + nth)
