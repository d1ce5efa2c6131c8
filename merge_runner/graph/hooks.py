"""Hooks of a model: where each was written, and what it refers to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from merge_runner.errors import Problems
from merge_runner.project.schema.config import ModelConfig, hook_texts
from merge_runner.project.schema.config_layers import Layer
from merge_runner.text import Place, PlacedText, SourceText

if TYPE_CHECKING:
    from merge_runner.template.capture import Capture


def hook(path: str, layers: Sequence[Layer], when: str, text: str) -> PlacedText:
    """The hook `text` of the model in the file `path`; `layers` are all of its config, the most specific last."""
    places = (_hook_place(layer, when, text) for layer in reversed(layers))
    place = next((place for place in places if place is not None), Place(path, 1, 1))
    return PlacedText(f"{path} ({when})", text, place)


def _hook_place(layer: Layer, when: str, text: str) -> Place | None:
    """The place of a hook in a layer of config: of its entry in a list, else of the key."""
    texts = hook_texts(layer.values.get(when))
    if text not in texts:
        return None
    entries = layer.entries.get(when, ())
    return entries[texts.index(text)] if len(entries) == len(texts) else layer.places.get(when)


def captured_in_hooks(
    path: str,
    layers: Sequence[Layer],
    config: ModelConfig,
    capture: Callable[[SourceText], Capture],
    problems: Problems,
) -> Iterator[Capture]:
    """What each hook refers to, at the hook's place; a hook that `capture` cannot read is a problem."""
    for when, texts in (("pre_hook", config.pre_hook), ("post_hook", config.post_hook)):
        for text in texts:
            with problems.collecting():
                yield capture(hook(path, layers, when, text))
