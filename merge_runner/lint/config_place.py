"""Where an entry of a model's config is written, in whichever layer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from merge_runner.text import Place

if TYPE_CHECKING:
    from merge_runner.graph.graph import Node
    from merge_runner.lint.context import LintedProject


def entry_place(project: LintedProject, node: Node, key: str, entry: str) -> Place:
    """The place of `entry` in the mapping `key` (`properties`, `conf`) of a model's config.

    Exact where the model's own file writes it; else the config key in YAML or pyproject.toml, the most specific one.
    """
    model = project.files.models[node.name]
    inline = re.search(
        rf"\b{key}\b['\"]?\s*[=:]\s*\{{[^{{}}]*?(?P<entry>(['\"]){re.escape(entry)}\2)", model.source.text
    )
    if inline is not None:
        return model.source.place(inline.start("entry"), inline.end("entry"))
    for layer in reversed(model.layers):
        value = layer.values.get(key)
        if isinstance(value, Mapping) and entry in value and key in layer.places:
            return layer.places[key]
    return Place(model.source.path, 1, 1)
