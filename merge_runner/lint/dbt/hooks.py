"""MERGEs in the hooks of a dbt model: their texts, and where the model's config has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from merge_runner.errors import ProblemsError
from merge_runner.lint.containers.placeholders import placeholders_of
from merge_runner.lint.dbt.model import DbtModel
from merge_runner.merge.expression import name_parts
from merge_runner.merge.find import holds_merge
from merge_runner.relation import Relation
from merge_runner.template.context import Context
from merge_runner.template.rendered_text import RenderedText
from merge_runner.template.templates import Templates
from merge_runner.text import PlacedText

_KEYS = (("pre-hook", "pre_hook"), ("post-hook", "post_hook"))


def hook_merges(model: DbtModel, templates: Templates, vars: Mapping[str, Any]) -> Iterator[RenderedText]:
    """Give the MERGEs of the hooks of a model, all of each at the place where the config has the hook.

    The manifest has hooks as they are written: what of their Jinja is not known is a placeholder.
    """
    for key, argument in _KEYS:
        hooks = model.node.config.get(key) or model.node.config.get(argument) or ()
        for index, entry in enumerate(hooks if isinstance(hooks, list) else (hooks,)):
            text = entry.get("sql") if isinstance(entry, Mapping) else entry
            if not isinstance(text, str) or not holds_merge(text):
                continue
            located = model.config.find(argument, index) or model.config.find(key, index) or model.config.place
            source = PlacedText(model.config.source.path, text, located.place)
            try:
                rendered = templates.render(source, _context(model, vars))
            except ProblemsError:
                rendered = RenderedText.plain(source)
            yield placeholders_of(rendered)


def _context(model: DbtModel, vars: Mapping[str, Any]) -> Context:
    nodes = {node.name: node.relation for node in model.project.nodes.values()}

    def relation(name: str) -> Relation:
        parts = name_parts(nodes.get(name) or "") or (name,)
        schema, catalog = (*reversed(parts[:-1]), None, None)[:2]
        return Relation(parts[-1], schema, catalog)

    return Context(
        model_name=model.node.name,
        this=relation(model.node.name),
        resolve_ref=relation,
        resolve_source=lambda source, table: Relation(table, source),
        vars=vars,
        env={},
        target={},
        full_refresh=False,
        incremental=True,
    )
