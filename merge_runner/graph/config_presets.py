"""What the config keys `low_shuffle`, `concurrent` and `storage_join` set for a model, by the key or by the profile."""

from __future__ import annotations

from collections.abc import Iterator

from merge_runner.formats.presets import Preset, low_shuffle, row_concurrency
from merge_runner.formats.registry import capabilities
from merge_runner.formats.storage_join import storage_join
from merge_runner.project.schema.config import ModelConfig
from merge_runner.project.schema.profile import Profile


def implied(config: ModelConfig, profile: Profile) -> Iterator[Preset]:
    """What is set below what the author writes by name. `materialized` of the config is known."""
    if config.low_shuffle is not None:
        yield low_shuffle(config.format, profile.platform, on=config.low_shuffle)
    if config.concurrent:
        yield row_concurrency(config.format, profile.platform)
    if capabilities(config.format).storage_partitioned_join and config.materialized == "merge":
        if config.storage_join is not None:
            yield storage_join(on=config.storage_join)
        elif profile.storage_join:
            yield storage_join(on=True)
