"""What a file says about itself through its built-ins: refs, sources, config, vars, macros."""

from __future__ import annotations

from dataclasses import dataclass, field

from merge_runner.project.load.files import Layer
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
class Captured:
    """Everything that the built-ins of a file were asked while it was read or rendered.

    `refs` and `sources` are in the order of their calls, each call once however often a loop repeats it; `changes`
    are those of `refs` that were written as `changes(…)`. `config` holds the inline config, the last call winning per
    key; each place covers the key. `vars` are the names that `var` read, `macros` the project macros that were called,
    also those that a macro called.
    """

    refs: tuple[Ref, ...] = ()
    sources: tuple[SourceRef, ...] = ()
    config: Layer = field(default_factory=lambda: Layer({}, {}))
    uses_this: bool = False
    vars: frozenset[str] = frozenset()
    macros: frozenset[str] = frozenset()
    changes: tuple[Ref, ...] = ()
