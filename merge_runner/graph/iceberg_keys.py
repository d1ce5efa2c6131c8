"""Config keys that only a MERGE into an Iceberg table can have."""

from __future__ import annotations

from collections.abc import Sequence

from merge_runner.errors import Problems
from merge_runner.project.schema.config import ModelConfig
from merge_runner.project.schema.config_layers import Layer
from merge_runner.text import Place


def check_iceberg_keys(
    name: str, config: ModelConfig, layers: Sequence[Layer], place: Place, problems: Problems
) -> None:
    """Adds a problem for each of the keys that the model or seed `name` has and cannot have, where it is written.

    `layers` are all of its config, `place` is used where none of them has one.
    """
    if config.materialized in ("view", "ephemeral"):
        return  # it has no table: as with every key of a table, this one has no effect
    delta = config.format == "delta"
    found = {}
    if config.storage_join and delta and config.materialized == "merge":
        hint = "leave it out here, or say `format: iceberg`; low_shuffle is what Delta can do"
        found["storage_join"] = (f"storage_join is for Iceberg tables, and {name} is Delta", hint)
    if config.sort_by and delta:
        found["sort_by"] = (f"sort_by is for Iceberg tables, and {name} is Delta", "cluster_by is what Delta can do")
    elif config.sort_by and config.materialized != "merge":
        message = f"sort_by is for merges, and {name} is written as a whole each time"
        found["sort_by"] = (message, "write ORDER BY in its query" if config.materialized else "leave it out")
    for key, (message, hint) in found.items():
        places = (layer.places.get(key) for layer in reversed(layers))
        problems.add("iceberg-key", message, next((one for one in places if one is not None), place), hint)
