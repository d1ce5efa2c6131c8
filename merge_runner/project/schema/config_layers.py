"""Config as it is written in layers (folder, YAML, the file itself), and how the layers resolve to one config."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from merge_runner.errors import Problems, did_you_mean
from merge_runner.project.schema.config import ALL_KEYS, MODEL_KEYS, SEED_KEYS, ModelConfig
from merge_runner.project.schema.dbt_keys import CONFIG as DBT_KEYS
from merge_runner.project.schema.dbt_keys import VALUES as DBT_VALUES
from merge_runner.project.syntax.places import KeyPath, Places
from merge_runner.project.syntax.validate import validate
from merge_runner.text import Place

_REFUSED = {
    **DBT_VALUES,
    ("reuse", "partitions"): "take it out: it is withdrawn, as it left out changed rows; `auto` is the default",
}

_WITHDRAWN = {
    "skip_unchanged": "take it out: `low_shuffle: true` has the table mark the rows that change and copy no others",
}
"""Keys that there were, with what to do instead."""


@dataclass(frozen=True)
class Layer:
    """Config that is written in one place: `values` by key, `places` holds the place of each key.

    `entries` has the places of the entries of `pre_hook` and `post_hook` where these are lists in YAML or TOML.
    """

    values: Mapping[str, Any]
    places: Mapping[str, Place]
    entries: Mapping[str, tuple[Place | None, ...]] = field(default_factory=dict)


_ADDED = frozenset({"pre_hook", "post_hook"})
_MERGED = frozenset({"meta", "docs", "properties", "conf", "column_types"})


def config_layer(
    data: Mapping[str, Any], places: Places, problems: Problems, *, at: KeyPath = (), of: str = "", seed: bool = False
) -> Layer:
    """Read config as it is written: keys as `config_key` has them, values of their types, every problem at its key.

    `data` is at the path `at`; `of` names the owner of the config in messages. With a problem in it the layer is empty.
    """
    allowed = ALL_KEYS if seed else MODEL_KEYS
    own_keys: dict[str, str] = {}
    before = len(problems)
    subject = f"{of}: " if of else ""
    for key in data:
        name = config_key(key)
        place = places.key_place((*at, key))
        if name in own_keys:
            message = f'{subject}the config key "{name}" is set twice, as "{own_keys[name]}" and as "{key}"'
            problems.add("duplicate-key", message, place, "keep one of them")
        elif name in allowed:
            own_keys[name] = key
        else:
            problems.add("unknown-key", f'{subject}unknown config key "{name}"', place, config_key_hint(name, allowed))
    values = {name: data[key] for name, key in own_keys.items()}
    set_values = {name: value for name, value in values.items() if value is not None}
    config = validate(ModelConfig, set_values, _AsWritten(places, at, own_keys), problems, of=of, refused=_REFUSED)
    if config is None or len(problems) > before:
        return Layer({}, {})
    key_places = ((name, places.key_place((*at, key))) for name, key in own_keys.items())
    return Layer(
        {name: getattr(config, name) if name in set_values else None for name in values},
        {name: place for name, place in key_places if place is not None},
        {
            name: tuple(places.place((*at, key, index)) for index in range(len(data[key])))
            for name, key in own_keys.items()
            if name in _ADDED and isinstance(data[key], list)
        },
    )


def resolve(layers: Sequence[Layer], problems: Problems, subject: str) -> ModelConfig:
    """The config that layers give together, the most specific last, as dbt merges them.

    A later value replaces an earlier one and None sets back to the default; tags and hooks add up; meta, docs,
    properties, conf and column_types merge key by key. Unknown keys and wrong values are added to `problems` at their
    places; `subject` ("model fct_flight", "seed airport") is named where there is none; only seeds have the keys of
    seeds.
    """
    seed = subject.startswith("seed ")
    values: dict[str, Any] = {}
    for layer in layers:
        of = "" if layer.places else subject
        for key, value in config_layer(layer.values, _LayerPlaces(layer), problems, of=of, seed=seed).values.items():
            if value is None:
                values.pop(key, None)
            elif key == "tags":
                values[key] = tuple(dict.fromkeys((*values.get(key, ()), *value)))
            elif key in _ADDED:
                values[key] = (*values.get(key, ()), *value)
            elif key in _MERGED:
                values[key] = {**values.get(key, {}), **value}
            else:
                values[key] = value
    return ModelConfig(**values)


def config_key(key_as_written: str) -> str:
    """Return the key that a written one means: without the `+` of dbt's folders, and `pre-hook` as `pre_hook`."""
    key = key_as_written.removeprefix("+")
    folded = key.replace("-", "_")
    return folded if folded in ALL_KEYS else key


def config_key_hint(key: str, allowed: Iterable[str] = MODEL_KEYS) -> str:
    """Return what to do about a config key that does not exist."""
    if key in SEED_KEYS:
        return "only seeds have it"
    return replacement(key) or did_you_mean(key, allowed) or 'remove it; what your own macros read goes below "meta"'


def replacement(key: str) -> str | None:
    """Return what to write instead of a config key that dbt has or that there was; None for other keys."""
    folded = key.replace("-", "_")
    return _WITHDRAWN.get(folded) or DBT_KEYS.get(folded)


def config_place(layers: Sequence[Layer], key: str) -> Place | None:
    """Return where the layer that decides a key writes it; None where no layer has a place for it."""
    places = (layer.places.get(key) for layer in reversed(layers))
    return next((place for place in places if place is not None), None)


@dataclass(frozen=True)
class _AsWritten:
    """The places of config keys whose `+` was taken off."""

    places: Places
    at: KeyPath
    written: Mapping[str, str]

    def place(self, path: KeyPath = ()) -> Place | None:
        return self.places.place(self._full(path))

    def key_place(self, path: KeyPath) -> Place | None:
        return self.places.key_place(self._full(path))

    def text(self, path: KeyPath) -> str | None:
        return self.places.text(self._full(path))

    def _full(self, path: KeyPath) -> KeyPath:
        return (
            *self.at,
            *(self.written.get(str(step), step) if not index else step for index, step in enumerate(path)),
        )


@dataclass(frozen=True)
class _LayerPlaces:
    """The places that a layer knows: those of its keys."""

    layer: Layer

    def place(self, path: KeyPath = ()) -> Place | None:
        return self.layer.places.get(str(path[0])) if path else None

    def key_place(self, path: KeyPath) -> Place | None:
        return self.place(path)

    def text(self, path: KeyPath) -> str | None:
        return None
