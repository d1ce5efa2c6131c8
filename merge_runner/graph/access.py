"""Which models may be referred to from where: dbt's groups, and models that are private to one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from merge_runner.errors import Problems, did_you_mean
from merge_runner.graph.graph import ModelNode, Node
from merge_runner.template.captured import Ref


def check_groups(nodes: Iterable[Node], groups: Collection[str], problems: Problems) -> None:
    """Add a problem for each model whose group is not declared, and for each that is private and in none."""
    for node in nodes:
        if not isinstance(node, ModelNode):
            continue
        group, place = node.config.group, node.place
        if group is not None and group not in groups:
            hint = did_you_mean(group, groups) or f"declare it in YAML: groups: [{{name: {group}, owner: {{…}}}}]"
            problems.add("unknown-group", f'{node.name} is in the group "{group}", which is not declared', place, hint)
        elif group is None and node.config.access == "private":
            problems.add("private-model", f"{node.name} is private, and in no group", place, "write its `group`")


def check_access(
    nodes: Mapping[str, Node], refs: Mapping[str, Iterable[Ref]], ids: Mapping[str, str], problems: Problems
) -> None:
    """Add a problem for each reference to a private model from outside of its group.

    `refs` are the references of each node by its id, `ids` the ids of models and seeds by name.
    """
    for unique_id, calls in refs.items():
        node = nodes.get(unique_id)
        own = node.config.group if isinstance(node, ModelNode) else None
        for call in calls:
            model = nodes.get(ids.get(call.name, ""))
            if not isinstance(model, ModelNode) or model.config.access != "private" or model.config.group == own:
                continue
            message = f"{model.name} is private to the group {model.config.group}"
            hint = "refer to it from a model of this group, or make it `protected`"
            problems.add("private-model", message, call.place, hint)
