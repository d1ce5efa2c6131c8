"""Config that a table or a MERGE cannot have or does not use, found when the graph is built."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from merge_runner.errors import Problem, Problems, did_you_mean
from merge_runner.formats.registry import capabilities
from merge_runner.merge.find import find_merge, find_statement
from merge_runner.project.schema.config import ModelConfig
from merge_runner.project.schema.config_layers import Layer, config_place
from merge_runner.template.static.tags import STRING
from merge_runner.text import Place, SourceText

if TYPE_CHECKING:
    from merge_runner.project.load.files import ModelFile, SeedFile

_CODE = "broken-contract"


def refuse_unknown_keys(config: Layer, allowed: Sequence[str], of: str, problems: Problems) -> None:
    """Add a problem for each key that a file sets in `config()` and its kind does not have; `of` names the kind."""
    for key in config.values.keys() - {*allowed}:
        message = f'"{key}" is no config key of {of}'
        problems.add("unknown-key", message, config.places.get(key), did_you_mean(key, allowed))


def is_enforced(config: ModelConfig) -> bool:
    """Return whether a config enforces the declared columns."""
    return config.contract is not None and config.contract.enforced


def check_contract(
    model: ModelFile, config: ModelConfig, layers: Sequence[Layer], place: Place, problems: Problems
) -> None:
    """Add a problem for each reason why a model cannot keep its contract; `layers` are all of its config.

    A contract needs the type of every column: the table is compared with it before it is written.
    """
    of = f"model {model.name} enforces its contract"
    if config.materialized == "ephemeral":
        message = f"{model.name} is ephemeral: there is no table that its contract could hold for"
        problems.add(_CODE, message, model.properties_place or place, "leave the contract out")
    columns = model.properties.columns if model.properties is not None else ()
    if not columns:
        at = config_place(layers, "contract") or place
        problems.add(_CODE, f"{of}, and declares no columns", at, "declare all of them in YAML, with data_type")
    for column in columns:
        if column.data_type is None:
            message = f'{of}, and its column "{column.name}" has no data_type'
            problems.add(_CODE, message, model.column_places[column.name], "declare it")


_BATCHES = ("begin", "lookback", "concurrent_batches", "batches_at_once", "late_rows")
_BATCH_CODE = "broken-batches"
_MOST_LOOKBACK = 1000


def check_batches(name: str, config: ModelConfig, layers: Sequence[Layer], place: Place, problems: Problems) -> None:
    """Add a problem for each reason why a model cannot run in batches; `layers` are all of its config."""

    def add(key: str, message: str, hint: str) -> None:
        problems.add(_BATCH_CODE, message, config_place(layers, key) or place, hint)

    if config.batch_size is None:
        for key in _BATCHES:
            if getattr(config, key) is not None:
                add(key, f"{name} has `{key}` and no `batch_size`", "give its batches a size, or take the key out")
        return
    if config.lookback is not None and config.lookback > _MOST_LOOKBACK:
        add("lookback", f"`lookback` of {name} is more than {_MOST_LOOKBACK:,}", "give it a larger `batch_size`")
    if config.materialized != "merge":
        add("batch_size", f"{name} has `batch_size`, and no MERGE", "write a MERGE, or take the key out")
    for key, hint in (("event_time", "name the column with the time of each row"), ("begin", "`begin: 2026-01-01`")):
        if getattr(config, key) is None:
            add("batch_size", f"{name} has `batch_size` and no `{key}`", hint)


def refuse_contract(seed: SeedFile, problems: Problems) -> None:
    """Add the problem that a seed has a contract."""
    hint = "leave the contract out: a seed is read with the types of its columns, and replaced as a whole"
    place = config_place(seed.layers, "contract") or seed.place
    problems.add(_CODE, f"seed {seed.name} has a contract", place, hint)


def check_iceberg_keys(
    name: str, config: ModelConfig, layers: Sequence[Layer], place: Place, problems: Problems
) -> None:
    """Adds a problem for each of the keys that the model or seed `name` has and cannot have, where it is written.

    `layers` are all of its config, `place` is used where none of them has one.
    """
    if config.materialized in ("view", "ephemeral"):
        return  # it has no table: as with every key of a table, this one has no effect
    format = capabilities(config.format)
    faults = {}
    if config.storage_join and not format.storage_partitioned_join and config.materialized == "merge":
        hint = f"leave it out here, or say `format: iceberg`; low_shuffle is what {format.label} can do"
        faults["storage_join"] = (f"storage_join is for Iceberg tables, and {name} is {format.label}", hint)
    if config.sort_by and not format.sort_order:
        hint = f"cluster_by is what {format.label} can do"
        faults["sort_by"] = (f"sort_by is for Iceberg tables, and {name} is {format.label}", hint)
    elif config.sort_by and config.materialized != "merge":
        message = f"sort_by is for merges, and {name} is written as a whole each time"
        faults["sort_by"] = (message, "write ORDER BY in its query" if config.materialized else "leave it out")
    for key, (message, hint) in faults.items():
        places = (layer.places.get(key) for layer in reversed(layers))
        problems.add(
            "iceberg-key", message, next((key_place for key_place in places if key_place is not None), place), hint
        )


_TAG = re.compile(r"\{#.*?(?:#\}|\Z)|\{%.*?(?:%\}|\Z)|\{\{.*?(?:\}\}|\Z)", re.DOTALL)
_CALL = re.compile(rf"{STRING}|['\"].*|(?P<call>\bis_incremental\b)", re.DOTALL)
_LAYOUT = ("partition_by", "cluster_by")
_HINT = (
    "an incremental model is a MERGE: `merge into {{ this }} as t using (SELECT …) as s on t.KEY = s.KEY …` "
    "(docs/guides/incremental-models.md, docs/getting-started/from-dbt.md)"
)
_ARTICLES = {"ephemeral": "an ephemeral model"}


def no_effect(source: SourceText, materialized: str, own: Sequence[Layer]) -> Iterator[Problem]:
    """Yield a warning for a model that is no MERGE and whose own file or YAML says that it is incremental.

    That is a call of `is_incremental()` in its text; in a view or an ephemeral model also a layout of a table.
    `own` are the layers of config that are about this model alone, the most specific last. A text that cannot be
    built with this materialization is left to the error about it.
    """
    if materialized == "merge" or find_merge(source.text) or find_statement(source.text):
        return
    kind = _ARTICLES.get(materialized, f"a {materialized}")
    if (call := _is_incremental(source.text)) is not None:
        message = f"is_incremental() is always false in {kind}: this file has no MERGE"
        yield Problem("never-incremental", message, source.place(*call), _HINT)
    elif materialized != "table":
        for key in _LAYOUT:
            layer_with_key = next((layer for layer in reversed(own) if key in layer.values), None)
            if layer_with_key is not None and layer_with_key.values[key]:
                message = f"{key} has no effect: this file has no MERGE, and {kind} has no data files"
                hint = f"remove {key}, or write config(materialized='table'); {_HINT}"
                yield Problem("no-effect", message, layer_with_key.places.get(key), hint)
                return


def _is_incremental(text: str) -> tuple[int, int] | None:
    """Return where a Jinja tag first names the built-in; comments of Jinja and texts in quotes do not count."""
    if "is_incremental" not in text:
        return None
    for tag in _TAG.finditer(text):
        for match in _CALL.finditer(text, tag.start(), tag.end()) if text[tag.start() + 1] != "#" else ():
            if match["call"]:
                return match.span()
    return None
