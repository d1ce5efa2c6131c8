"""The query of a dbt model as dbt will compile it, rendered from the template in the manifest.

`dbt parse` writes no compiled query. Lint renders a template itself where it knows every name in it: `ref`, `source`,
`this`, `is_incremental()` and Jinja's own. A var, a macro, the target or the result of a statement may have any value
when dbt runs, so a template that uses one is not rendered: a wrong query would be a wrong verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from merge_runner.errors import ProblemsError
from merge_runner.lint.dbt.config import without_config
from merge_runner.lint.dbt.merge import Unknown
from merge_runner.merge.expression import name_parts
from merge_runner.relation import Relation
from merge_runner.template.context import Context
from merge_runner.template.free_names import free_names
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText

if TYPE_CHECKING:
    from merge_runner.lint.dbt.manifest import DbtNode

_DBT = frozenset({"ref", "source", "this", "is_incremental", "execute"})
"""Names of dbt whose values are known."""
_JINJA = frozenset({"range", "dict", "namespace"})
_TEMPLATES = Templates()


def rendered_query(
    node: DbtNode, nodes: Mapping[str, DbtNode], overriding: frozenset[str], *, incremental: bool
) -> str | Unknown:
    """Return the query of a model, or why lint cannot render it.

    `nodes` are those of the project by their ids, `overriding` the names of the macros that are not dbt's own, and
    `incremental` is what `is_incremental()` returns.
    """
    if not node.raw_code or not node.relation:
        return Unknown("the manifest has no template of it")
    if overridden := sorted((_DBT | {"config"}) & overriding):
        return Unknown(f"the project overrides {overridden[0]}")
    source = SourceText(node.path or node.name, without_config(node.raw_code))
    names = free_names(source.text)
    if names is None:
        return Unknown("lint cannot read its template")
    if unknown := sorted(names - _DBT - _JINJA):
        return Unknown(f"its template uses `{unknown[0]}`")
    if "is_incremental" in names and not incremental:
        return Unknown("its template uses `is_incremental`")
    inputs = [(key, nodes.get(key)) for key in node.inputs]

    def resolve(what: str, ids: list[str]) -> Relation:
        parent = nodes.get(ids[0]) if len(ids) == 1 else None
        if parent is None or not parent.relation:
            raise LookupError(f"{what} is no table or view of the manifest")
        return _relation(parent)

    def ref(name: str) -> Relation:
        return resolve(
            f"ref('{name}')", [key for key, parent in inputs if parent and _is_ref(key) and parent.name == name]
        )

    def dbt_source(name: str, table: str) -> Relation:
        ids = [key for key, _ in inputs if key.startswith("source.") and key.endswith(f".{name}.{table}")]
        return resolve(f"source('{name}', '{table}')", ids)

    context = Context(
        model_name=node.name,
        this=_relation(node),
        resolve_ref=ref,
        resolve_source=dbt_source,
        vars={},
        env={},
        target={},
        full_refresh=False,
        incremental=incremental,
    )
    try:
        return _TEMPLATES.render(source, context).text
    except ProblemsError as error:
        return Unknown(error.problems[0].message)


def _relation(node: DbtNode) -> Relation:
    """The table or view of a node, by the parts of its name as it is written in the manifest."""
    *schema, identifier = name_parts(node.relation) or (node.name,)
    return Relation(identifier, *reversed(schema[-2:]))


def _is_ref(unique_id: str) -> bool:
    return unique_id.startswith(("model.", "seed.", "snapshot."))
