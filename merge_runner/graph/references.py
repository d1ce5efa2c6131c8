"""What `ref` and `source` of a file mean: ids of nodes, or what is wrong with the name, or with who refers to it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from merge_runner.errors import Problems, did_you_mean
from merge_runner.graph.graph import ModelNode, Node
from merge_runner.project.load.files import ProjectFiles
from merge_runner.template.capture import Capture, Ref
from merge_runner.text import Place

_CALL = re.compile(
    r"""\s*(?:\{\{\s*)?(ref|source)\(\s*['"]([^'"]+)['"]\s*(?:,\s*['"]([^'"]+)['"]\s*)?\)\s*(?:\}\})?\s*"""
)


def call_in(text: str) -> tuple[str, tuple[str, ...]] | None:
    """Return `ref` or `source` with its arguments, where a text in YAML is such a call and nothing else."""
    call = _CALL.fullmatch(text)
    return None if call is None else (call[1], (call[2],) if call[3] is None else (call[2], call[3]))


@dataclass(frozen=True)
class References:
    """Finds the nodes that names mean. `refs` are the ids of models and seeds by name; it may grow.

    `problems` gets what does not exist or is disabled.
    """

    files: ProjectFiles
    refs: Mapping[str, str]
    problems: Problems

    def parents(self, captured: Capture) -> tuple[str, ...]:
        """Return the ids of what a file refers to, in its order, each once."""
        parents = [self.resolve("ref", (call.name,), call.place) for call in captured.refs]
        parents += [self.resolve("source", (call.source, call.table), call.place) for call in captured.sources]
        return tuple(dict.fromkeys(unique_id for unique_id in parents if unique_id is not None))

    def resolve(self, kind: str, names: tuple[str, ...], place: Place) -> str | None:
        """Return the id of a `ref` or `source`, given its arguments; None (and a problem) where there is none."""
        if kind == "ref":
            if names[-1] not in self.refs:
                self._unknown_ref(names[-1], place)
            return self.refs.get(names[-1])
        source, table = names[0], names[-1]
        if (source, table) in self.files.sources:
            return f"source.{self.files.settings.name}.{source}.{table}"
        hint = did_you_mean(
            f"{source}.{table}", [f"{source_name}.{table_name}" for source_name, table_name in self.files.sources]
        )
        self.problems.add("unknown-source", f'there is no source table "{source}.{table}"', place, hint)
        return None

    def _unknown_ref(self, name: str, place: Place) -> None:
        if name in self.files.models or name in self.files.seeds:
            hint: str | None = "enable it, or take the ref away"
            self.problems.add("disabled-ref", f'ref("{name}") is a disabled model', place, hint)
            return
        unread_part = next((part for part in self.files.not_read if name in part.names), None)
        hint = did_you_mean(name, self.refs)
        if unread_part is not None:
            hint = f"{name} belongs to {unread_part.place.path}, which is not read: {unread_part.hint}"
        self.problems.add("unknown-ref", f'there is no model or seed "{name}"', place, hint)


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
