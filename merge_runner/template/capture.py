"""What a file says about itself through its built-ins: refs, sources, config, vars, macros."""

from __future__ import annotations

import json
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

from merge_runner.project.load.files import Layer
from merge_runner.project.syntax.environment import EnvVar
from merge_runner.text import Place


@dataclass(frozen=True, slots=True)
class Ref:
    """One `ref(…)` or `changes(…)`: the model's name.

    The place covers the call, and is in a macro's file where the call is there.
    """

    name: str
    place: Place


@dataclass(frozen=True, slots=True)
class SourceRef:
    """One `source(…)`: the source's and the table's name; the place covers the call."""

    source: str
    table: str
    place: Place


@dataclass(frozen=True)
class Capture:
    """Everything that the built-ins of a file were asked while it was read or rendered.

    `refs` and `sources` are in the order of their calls, each call once however often a loop repeats it; `changes`
    are those of `refs` that were written as `changes(…)`. `config` holds the inline config, the last call winning per
    key; each place covers the key. `vars` are the names that `var` read, `env_vars` the calls of `env_var`, `macros`
    the project macros that were called, also those that a macro called.
    """

    refs: tuple[Ref, ...] = ()
    sources: tuple[SourceRef, ...] = ()
    config: Layer = field(default_factory=lambda: Layer({}, {}))
    uses_this: bool = False
    vars: frozenset[str] = frozenset()
    env_vars: tuple[EnvVar, ...] = ()
    macros: frozenset[str] = frozenset()
    changes: tuple[Ref, ...] = ()


@dataclass
class Record:
    """What the built-ins of a file have been asked so far; calls are in their order, each once."""

    refs: dict[Ref, None] = field(default_factory=dict)
    sources: dict[SourceRef, None] = field(default_factory=dict)
    changes: dict[Ref, None] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    config_places: dict[str, Place] = field(default_factory=dict)
    uses_this: bool = False
    vars: set[str] = field(default_factory=set)
    env_vars: dict[EnvVar, None] = field(default_factory=dict)

    def captured(self, macros: Set[str]) -> Capture:
        """Return it as a value; `macros` are the project macros that were called."""
        return Capture(
            refs=tuple(self.refs),
            sources=tuple(self.sources),
            config=Layer(self.config, self.config_places),
            uses_this=self.uses_this,
            vars=frozenset(self.vars),
            env_vars=tuple(self.env_vars),
            macros=frozenset(macros),
            changes=tuple(self.changes),
        )


def capture_as_json(captured: Capture) -> dict[str, Any] | None:
    """Return what JSON can hold of it, for `capture_of_json`; None where a value of the config is no JSON."""
    layer = captured.config
    values = dict(layer.values)
    try:
        # A tuple, a key that is a number, a date or a decimal is another value afterwards; 1 and True are equal.
        again = json.loads(json.dumps(values))
        if again != values or repr(again) != repr(values):
            return None
    except (TypeError, ValueError):
        return None
    return {
        "refs": [(ref.name, _as_json(ref.place)) for ref in captured.refs],
        "sources": [(source.source, source.table, _as_json(source.place)) for source in captured.sources],
        "config": values,
        "places": {key: _as_json(place) for key, place in layer.places.items()},
        "uses_this": captured.uses_this,
        "vars": sorted(captured.vars),
        "env_vars": [(call.name, _as_json(call.place)) for call in captured.env_vars],
        "macros": sorted(captured.macros),
        "changes": [(ref.name, _as_json(ref.place)) for ref in captured.changes],
    }


def _as_json(place: Place) -> tuple[str | int | None, ...]:
    return place.path, place.line, place.column, place.end_line, place.end_column, place.cell


def capture_of_json(value: dict[str, Any]) -> Capture:
    """Return what `capture_as_json` took apart."""
    return Capture(
        refs=tuple(Ref(name, Place(*place)) for name, place in value["refs"]),
        sources=tuple(SourceRef(source, table, Place(*place)) for source, table, place in value["sources"]),
        config=Layer(value["config"], {key: Place(*place) for key, place in value["places"].items()}),
        uses_this=value["uses_this"],
        vars=frozenset(value["vars"]),
        env_vars=tuple(EnvVar(name, Place(*place)) for name, place in value["env_vars"]),
        macros=frozenset(value["macros"]),
        changes=tuple(Ref(name, Place(*place)) for name, place in value["changes"]),
    )
