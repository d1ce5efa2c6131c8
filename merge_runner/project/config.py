"""The config of a model: its keys, and how the layers in which they are written come together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StrictBool, StrictInt, TypeAdapter

from merge_runner.errors import Problems, did_you_mean
from merge_runner.project.dbt_keys import CONFIG as DBT_KEYS
from merge_runner.project.dbt_keys import VALUES as DBT_VALUES
from merge_runner.project.duration import seconds
from merge_runner.project.expect_merge import ExpectMerge
from merge_runner.project.places import KeyPath, Places
from merge_runner.project.validate import validate
from merge_runner.text import Place


@dataclass(frozen=True)
class Layer:
    """Config that is written in one place: `values` by key, `places` says where each key stands."""

    values: Mapping[str, Any]
    places: Mapping[str, Place]


def listed(value: Any) -> Any:
    """One entry counts as a list of one, nothing as an empty list."""
    if value is None:
        return ()
    return value if isinstance(value, list | tuple | Mapping) else (value,)


def _bounds(value: Any) -> Any:
    # YAML 1.1 editors and people write off as false; a Jinja config() may as well.
    return "off" if value is False else value


Seconds = Annotated[float, BeforeValidator(seconds)]
"""Seconds above 0, or a text with a unit."""

Names = Annotated[tuple[str, ...], BeforeValidator(listed)]
"""A list of texts, or one text."""


def hook_texts(value: Any) -> Any:
    """Return the SQL texts of hooks, which may be texts or dbt's mappings `{sql: …, transaction: …}`.

    `transaction` changes nothing: Spark has no transactions, and hooks run in their order. Other shapes stay as they
    are, for the types to refuse.
    """
    return tuple(_hook_text(each) for each in ((value,) if isinstance(value, Mapping) else listed(value)))


def _hook_text(value: Any) -> Any:
    written = isinstance(value, Mapping) and isinstance(value.get("sql"), str)
    return value["sql"] if written and value.keys() <= {"sql", "transaction"} else value


Hooks = Annotated[tuple[str, ...], BeforeValidator(hook_texts)]
"""SQL texts, each alone or in a mapping of dbt."""
Count = Annotated[StrictInt, Field(ge=0)]
Texts = Mapping[str, str]


@dataclass(frozen=True)
class Optimize:
    """How a table is compacted: columns to Z-order by, a predicate that limits the work.

    `after` is the number of MERGEs since the last compaction with which a build compacts the table itself; None: only
    `merge-runner optimize` does.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    zorder_by: Names = ()
    where: str | None = None
    after: Annotated[StrictInt, Field(ge=1)] | None = None


@dataclass(frozen=True)
class Contract:
    """Whether the declared columns are enforced. `alias_types` is dbt's, and changes nothing: Spark reads all types."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    enforced: StrictBool = False
    alias_types: StrictBool = True


OnSchemaChange = Literal["ignore", "append_new_columns", "fail"]
"""What happens where an existing table lacks declared columns: a warning, they are added, or the model stops."""


@dataclass(frozen=True)
class ModelConfig:
    """The resolved config of a model or seed; what nothing says has its default.

    `materialized` None: not said, so the file's content decides. `timeout` is in seconds. `low_shuffle`: None not said,
    so the table's properties decide. `storage_join`: None not said, so the profile decides. `optimize`: None not said
    and True are plain compaction, on demand; False never. `expect_merge`: None not said, so no limits. `docs`, `group`
    and `access` are dbt's, and are written to the manifest. `column_types` and `delimiter` are those of a seed.
    """

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    materialized: Literal["merge", "table", "view", "ephemeral"] | None = None
    format: Literal["delta", "iceberg"] = "delta"
    schema: str | None = None
    alias: str | None = None
    partition_by: Names = ()
    cluster_by: Names = ()
    sort_by: Names = ()
    unique_key: Names = ()
    bounds: Annotated[Literal["auto", "off"] | tuple[str, ...], BeforeValidator(_bounds)] = "auto"
    scan: Literal["bounded", "full"] = "bounded"
    properties: Texts = field(default_factory=dict)
    conf: Texts = field(default_factory=dict)
    tags: Names = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    enabled: StrictBool = True
    pre_hook: Hooks = ()
    post_hook: Hooks = ()
    on_error: Literal["skip_children", "continue"] = "skip_children"
    full_refresh: StrictBool | None = None
    low_shuffle: StrictBool | None = None
    storage_join: StrictBool | None = None
    optimize: StrictBool | Optimize | None = None
    expect_merge: ExpectMerge | None = None
    priority: StrictInt = 0
    retries: Count | None = None
    timeout: Seconds | None = None
    concurrent: StrictBool = False
    on_schema_change: OnSchemaChange = "ignore"
    contract: Contract | None = None
    docs: Mapping[str, Any] = field(default_factory=dict)
    group: str | None = None
    access: Literal["private", "protected", "public"] | None = None
    column_types: Texts = field(default_factory=dict)
    delimiter: Annotated[str, Field(min_length=1)] = ","

    def as_json(self) -> dict[str, Any]:
        """The config as plain JSON values, by key."""
        plain: dict[str, Any] = _ADAPTER.dump_python(self, mode="json")
        return plain


_ADAPTER = TypeAdapter(ModelConfig)

SEED_KEYS = frozenset({"column_types", "delimiter"})
MODEL_KEYS = frozenset(each.name for each in fields(ModelConfig)) - SEED_KEYS
_ALL_KEYS = MODEL_KEYS | SEED_KEYS
TABLE_KEYS = frozenset(
    {"properties", "conf", "meta", "optimize", "expect_merge", "column_types", "contract", "pre_hook", "post_hook"}
)
"""Keys whose value may be a mapping: in a tree of folders they are config all the same."""

_ADDED = frozenset({"pre_hook", "post_hook"})
_MERGED = frozenset({"meta", "docs", "properties", "conf", "column_types"})


def config_layer(
    data: Mapping[str, Any],
    places: Places,
    problems: Problems,
    *,
    at: KeyPath = (),
    of: str = "",
    seed: bool = False,
) -> Layer:
    """Config as it is written, read: keys as `config_key` has them, values of their types, every problem at its key.

    `data` stands at the path `at`; `of` says in messages whose config it is. With a problem in it the layer is empty.
    """
    known = _ALL_KEYS if seed else MODEL_KEYS
    written: dict[str, str] = {}
    before = len(problems)
    subject = f"{of}: " if of else ""
    for key in data:
        name = config_key(key)
        place = places.key_place((*at, key))
        if name in written:
            message = f'{subject}the config key "{name}" stands twice, as "{written[name]}" and as "{key}"'
            problems.add("duplicate-key", message, place, "keep one of them")
        elif name in known:
            written[name] = key
        else:
            problems.add("unknown-key", f'{subject}unknown config key "{name}"', place, config_key_hint(name, known))
    values = {name: data[key] for name, key in written.items()}
    said = {name: value for name, value in values.items() if value is not None}
    config = validate(ModelConfig, said, _AsWritten(places, at, written), problems, of=of, refused=DBT_VALUES)
    if config is None or len(problems) > before:
        return Layer({}, {})
    found = ((name, places.key_place((*at, key))) for name, key in written.items())
    return Layer(
        {name: getattr(config, name) if name in said else None for name in values},
        {name: place for name, place in found if place is not None},
    )


def resolve(layers: Sequence[Layer], problems: Problems, what: str) -> ModelConfig:
    """The config that layers give together, the most specific last, as dbt merges them.

    A later value replaces an earlier one and None sets back to the default; tags and hooks add up; meta, docs,
    properties, conf and column_types merge key by key. Unknown keys and wrong values are added to `problems` at their
    places; `what` ("model fct_flight", "seed airport") is named where there is none; only seeds have the keys of seeds.
    """
    seed = what.startswith("seed ")
    said: dict[str, Any] = {}
    for layer in layers:
        of = "" if layer.places else what
        for key, value in config_layer(layer.values, _LayerPlaces(layer), problems, of=of, seed=seed).values.items():
            if value is None:
                said.pop(key, None)
            elif key == "tags":
                said[key] = tuple(dict.fromkeys((*said.get(key, ()), *value)))
            elif key in _ADDED:
                said[key] = (*said.get(key, ()), *value)
            elif key in _MERGED:
                said[key] = {**said.get(key, {}), **value}
            else:
                said[key] = value
    return ModelConfig(**said)


def config_key(written: str) -> str:
    """Return the key that a written one means: without the `+` of dbt's folders, and `pre-hook` as `pre_hook`."""
    key = written.removeprefix("+")
    folded = key.replace("-", "_")
    return folded if folded in _ALL_KEYS else key


def config_key_hint(key: str, known: Iterable[str] = MODEL_KEYS) -> str:
    """Return what to do about a config key that does not exist."""
    if key in SEED_KEYS:
        return "only seeds have it"
    return (
        DBT_KEYS.get(key.replace("-", "_"))
        or did_you_mean(key, known)
        or 'remove it; what your own macros read goes below "meta"'
    )


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
