"""The config that pyproject.toml gives to folders of models or seeds, and through them to each of these."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from merge_runner.errors import Problems, did_you_mean
from merge_runner.project.schema.config import MODEL_KEYS
from merge_runner.project.schema.config_layers import Layer, replacement
from merge_runner.project.schema.settings import Settings


class FolderConfig:
    """Config layers by folder.

    As in dbt the project's own name may be the first level, which then means everything, unless a folder has that
    name; and the last level may be a model's or seed's name.
    """

    def __init__(
        self,
        settings: Settings,
        kind: Literal["models", "seeds"],
        folders: Iterable[tuple[str, ...]],
        problems: Problems,
    ) -> None:
        existing = set(folders)
        self._layers: dict[tuple[str, ...], tuple[Layer, ...]] = {}
        self._inherited: dict[tuple[str, ...], tuple[Layer, ...]] = {}
        config_tables = settings.models if kind == "models" else settings.seeds
        for path in sorted(config_tables, key=len):
            begins_with_project = path[:1] == (settings.name,) and path[:1] not in existing
            folder = path[1:] if begins_with_project else path
            if folder in existing or not folder:
                if config_tables[path].values:
                    self._layers[folder] = (*self._layers.get(folder, ()), config_tables[path])
            elif folder[:-1] in existing or len(folder) == 1:
                siblings = {
                    folder_path[-1] for folder_path in existing if folder_path[:-1] == folder[:-1] and folder_path
                }
                message = f'{kind}: "{folder[-1]}" is neither a folder nor a config key'
                place = settings.places.key_place((kind, *path)) if settings.places else None
                problems.add("unknown-folder", message, place, _hint(folder[-1], siblings))

    def layers(self, path: tuple[str, ...]) -> tuple[Layer, ...]:
        """The layers of a model or seed, by its folders and its name; the most specific last."""
        inherited = self._inherited.get(path)
        if inherited is None:
            outer = self.layers(path[:-1]) if path else ()
            inherited = self._inherited[path] = (*outer, *self._layers.get(path, ()))
        return inherited


def _hint(key: str, folders: Iterable[str]) -> str | None:
    return replacement(key) or did_you_mean(key, {*folders, *MODEL_KEYS})
