"""What `ref` and `source` of a file mean: ids of nodes, or what is wrong with the name."""

from __future__ import annotations

import re
from collections.abc import Mapping

from merge_runner.errors import Problems, did_you_mean
from merge_runner.lazy_dataclass import dataclass
from merge_runner.project.load.files import ProjectFiles
from merge_runner.template.captured import Captured
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

    def parents(self, captured: Captured) -> tuple[str, ...]:
        """Return the ids of what a file refers to, in its order, each once."""
        found = [self.resolve("ref", (each.name,), each.place) for each in captured.refs]
        found += [self.resolve("source", (each.source, each.table), each.place) for each in captured.sources]
        return tuple(dict.fromkeys(unique_id for unique_id in found if unique_id is not None))

    def resolve(self, kind: str, names: tuple[str, ...], place: Place) -> str | None:
        """Return the id of a `ref` or `source`, given its arguments; None (and a problem) where there is none."""
        if kind == "ref":
            if names[-1] not in self.refs:
                self._unknown_ref(names[-1], place)
            return self.refs.get(names[-1])
        source, table = names[0], names[-1]
        if (source, table) in self.files.sources:
            return f"source.{self.files.settings.name}.{source}.{table}"
        hint = did_you_mean(f"{source}.{table}", [f"{one}.{other}" for one, other in self.files.sources])
        self.problems.add("unknown-source", f'there is no source table "{source}.{table}"', place, hint)
        return None

    def _unknown_ref(self, name: str, place: Place) -> None:
        if name in self.files.models or name in self.files.seeds:
            hint: str | None = "enable it, or take the ref away"
            self.problems.add("disabled-ref", f'ref("{name}") is a disabled model', place, hint)
            return
        known = next((each for each in self.files.not_read if name in each.names), None)
        hint = did_you_mean(name, self.refs)
        if known is not None:
            hint = f"{name} belongs to {known.place.path}, which is not read: {known.hint}"
        self.problems.add("unknown-ref", f'there is no model or seed "{name}"', place, hint)
