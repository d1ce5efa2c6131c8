"""What a template is rendered for: the model, and the answers to every name that it may ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from merge_runner.relation import Relation

if TYPE_CHECKING:
    from merge_runner.template.capture import Ref, SourceRef
    from merge_runner.template.operation.table import Operation
    from merge_runner.template.relation_column import RelationColumn


@dataclass(frozen=True)
class Context:
    """The surroundings of one rendering.

    `resolve_ref` takes a model's name, `resolve_source` a source's and a table's name; both raise LookupError, with a
    message for the user, for a name that does not exist. `this` is None where the file has no table (a
    singular test). `vars` and `target` are plain data as YAML and TOML give it; templates get copies. The values of
    `env` never reach a message or a log. `incremental` and `full_refresh` are what `is_incremental()` and
    `is_full_refresh()` return.
    """

    model_name: str
    this: Relation | None
    resolve_ref: Callable[[str], Relation]
    resolve_source: Callable[[str, str], Relation]
    vars: Mapping[str, Any]
    env: Mapping[str, str]
    target: Mapping[str, Any]
    full_refresh: bool
    incremental: bool = False
    config: Mapping[str, Any] = field(default_factory=dict)
    """The config that YAML and the settings give; `config.get` reads it for keys that the file does not set."""
    model: Mapping[str, Any] = field(default_factory=dict)
    """What `model` knows of the file, with dbt's keys (see model_values)."""
    macros: Mapping[str, Any] = field(default_factory=dict)
    """Plain data that calls of the project's macros of these names give, whatever their arguments."""
    columns: Callable[[Ref | SourceRef], Sequence[RelationColumn]] | None = None
    """Returns the columns of a table that a call names; it raises LookupError where they are not all known."""
    batch: Mapping[str, str] | None = None
    """What the text knows as `batch`: `start` and `end` of its window as literals, `id`; None: it has no batches."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """What this text alone can name, such as the results of a run; a macro of the project goes before it."""
    operation: Operation | None = None
    """What executes the statements of the template; None: the engine cannot be asked, as its run has not begun."""


def model_values(resource_type: str, fqn: Sequence[str], path: str) -> dict[str, Any]:
    """Return what is known of a node without its config, by dbt's keys; `fqn` begins with the project's name."""
    return {
        "name": fqn[-1],
        "resource_type": resource_type,
        "package_name": fqn[0],
        "unique_id": f"{resource_type}.{fqn[0]}.{fqn[-1]}",
        "fqn": list(fqn),
        "original_file_path": path,
        "path": "/".join((*fqn[1:-1], PurePosixPath(path).name)),
    }
