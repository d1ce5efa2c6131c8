"""Contracts that no table could keep: found when the graph is built, since config may come from anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from merge_runner.errors import Problems
from merge_runner.project.schema.config import ModelConfig
from merge_runner.project.schema.config_layers import Layer, config_place

if TYPE_CHECKING:
    from merge_runner.project.load.files import ModelFile, SeedFile
    from merge_runner.text import Place

_CODE = "broken-contract"


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


def refuse_contract(seed: SeedFile, problems: Problems) -> None:
    """Add the problem that a seed has a contract."""
    hint = "leave the contract out: a seed is read with the types of its columns, and replaced as a whole"
    place = config_place(seed.layers, "contract") or seed.place
    problems.add(_CODE, f"seed {seed.name} has a contract", place, hint)
