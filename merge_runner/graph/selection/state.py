"""An earlier state of the project: what its manifest.json and run_results.json say, and what has changed since."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from merge_runner.errors import Problem, ProblemsError
from merge_runner.graph.graph import Graph, Node
from merge_runner.graph.manifest import entry
from merge_runner.project.schema.config import ModelConfig
from merge_runner.project_file import read_json
from merge_runner.template.redact import same_but_hidden

Change = Literal["new", "body", "configs", "relation", "macros", "contract", "location"]
"""A way in which a node differs: `contract` is its declared columns, `location` the folder it lies in."""

_SECTIONS = ("nodes", "sources", "unit_tests", "exposures")
"""Where a manifest has the nodes that are compared."""

_OF_EXPOSURES = ("type", "owner", "maturity", "url", "description", "label", "depends_on")

# dbt compares neither these: they say where a table is (that is `relation`) or what it is filed under.
_NOT_COMPARED = frozenset({"schema", "alias", "tags"})


def changes(graph: Graph, previous: Mapping[str, Any]) -> dict[str, frozenset[Change]]:
    """For each node in what it differs from the previous manifest; an empty set: in nothing, {"new"}: it was not there.

    `previous` is a manifest.json as read_manifest gives it. As in dbt, a schema that comes from the profile makes no
    difference (state is compared between targets), a change of a macro counts for each node that calls it, directly or
    through other macros, and a new macro counts as changed. A manifest hides secrets: another value is no change.
    """
    before = {unique_id: entry for key in _SECTIONS for unique_id, entry in previous[key].items()}
    stale = _changed_macros(graph, previous["macros"])
    removed_macros = previous["macros"].keys() - graph.macros.keys()
    changes_of: dict[str, frozenset[Change]] = {}
    for unique_id, node in graph.nodes.items():
        differing: set[Change] = set()
        macros = set(node.macros)
        if unique_id not in before:
            differing.add("new")
        else:
            old, new = _comparable_parts(before[unique_id]), _comparable_parts(entry(graph, node))
            differing |= {change for change in new if not same_but_hidden(old[change], new[change])}
            # A macro that is gone may have overridden a built-in one, so that its callers still render without it.
            macros |= removed_macros.intersection(_texts(_mapping(before[unique_id].get("depends_on")).get("macros")))
        if not macros.isdisjoint(stale | removed_macros):
            differing.add("macros")
        changes_of[unique_id] = frozenset(differing)
    return changes_of


def changed_contract(graph: Graph, previous: Mapping[str, Any], node: Node) -> frozenset[str]:
    """The declared columns of a node that differ from the previous manifest, by type or constraints, case folded."""
    before = {**previous["nodes"], **previous["sources"]}.get(node.unique_id, {})
    old, new = _comparable_parts(before)["contract"], _comparable_parts(entry(graph, node))["contract"]
    return frozenset(name.casefold() for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def read_manifest(state_dir: Path) -> dict[str, Any]:
    """The manifest.json of `state_dir`, at least with mappings of its nodes of all kinds, and of `macros`.

    ProblemsError where it is missing, no manifest, or of a shape that cannot be compared.
    """
    path = state_dir / "manifest.json"
    content = _read(path, "write one with `merge-runner parse`, and keep its target folder for --state")
    content.setdefault("unit_tests", {})  # manifests of dbt before 1.8 have none
    content.setdefault("exposures", {})
    for key in (*_SECTIONS, "macros"):
        section = content.get(key)
        if not isinstance(section, dict) or not all(isinstance(value, dict) for value in section.values()):
            raise _unreadable(path, f'its "{key}" is not a mapping of mappings')
    return content


def read_results(state_dir: Path) -> dict[str, str]:
    """The status of each node in the run_results.json of `state_dir`, by id; ProblemsError where it cannot be read."""
    path = state_dir / "run_results.json"
    content = _read(path, "it is written by `merge-runner build`, `run` and `test`")
    results = content.get("results")
    if not isinstance(results, list):
        raise _unreadable(path, 'its "results" is not a list')
    try:
        return {str(result["unique_id"]): str(result["status"]) for result in results}
    except (TypeError, KeyError) as error:
        raise _unreadable(path, 'a result has no "unique_id" or no "status"') from error


def _read(path: Path, hint: str) -> dict[str, Any]:
    try:
        content = read_json(path, None)
    except FileNotFoundError as error:
        raise ProblemsError([Problem("no-state", f"there is no {path}", hint=hint)]) from error
    except OSError as error:
        raise _unreadable(path, str(error.strerror or error)) from error
    except ValueError as error:  # not UTF-8, not JSON, or nested without end
        raise _unreadable(path, f"it is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise _unreadable(path, "it is not a JSON object")
    return content


def _unreadable(path: Path, reason: str) -> ProblemsError:
    hint = "the folder given as --state holds the artifacts of an earlier command"
    return ProblemsError([Problem("bad-state", f"cannot read {path}: {reason}", hint=hint)])


def _comparable_parts(values: Mapping[str, Any]) -> dict[Change, Any]:
    """The parts of a manifest's entry that are compared, in one form for nodes, sources and unit tests."""
    config = _mapping(values.get("config"))
    checksum = values.get("checksum")
    columns = _mapping(values.get("columns"))
    is_source = values.get("resource_type") == "source"
    defaults = _defaults()
    return {
        "body": (
            [values.get(key) for key in _OF_EXPOSURES]
            if values.get("resource_type") == "exposure"
            else checksum.get("checksum")
            if isinstance(checksum, dict)
            else checksum
        ),
        "configs": {
            key: value for key, value in config.items() if key not in _NOT_COMPARED and value != defaults.get(key)
        },
        "relation": (
            [values.get(key) for key in ("database", "schema", "identifier")]
            if is_source
            else [config.get("schema"), values.get("alias")]
        ),
        "contract": {
            name: (column.get("data_type"), _constraints(column))
            for name, column in columns.items()
            if isinstance(column, dict)
        },
        "location": values.get("fqn"),
    }


@cache
def _defaults() -> Mapping[str, Any]:
    """Return the default of each config key: a manifest of an earlier release lacks keys that have been added since."""
    return ModelConfig().as_json()


def _constraints(column: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The constraints of a column. Earlier manifests have `columns` in them, which dbt's schema has not."""
    constraints = column.get("constraints")
    mappings = [_mapping(constraint) for constraint in constraints] if isinstance(constraints, list) else []
    return [{key: value for key, value in constraint.items() if key != "columns"} for constraint in mappings]


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()


def _changed_macros(graph: Graph, previous: Mapping[str, Any]) -> frozenset[str]:
    """Ids of the macros that are new or changed, or call one that is."""
    changed_ids = {
        unique_id
        for unique_id, macro in graph.macros.items()
        if previous.get(unique_id, {}).get("macro_sql") != macro.sql
    }
    return macros_affected(graph, changed_ids)


def macros_affected(graph: Graph, ids: Iterable[str]) -> frozenset[str]:
    """The macros `ids` and all that call them, directly or through others."""
    callers: dict[str, list[str]] = {}
    for unique_id, macro in graph.macros.items():
        for callee in macro.macros:
            callers.setdefault(callee, []).append(unique_id)
    affected = set(ids)
    pending = list(affected)
    while pending:
        for caller in callers.get(pending.pop(), ()):
            if caller not in affected:
                affected.add(caller)
                pending.append(caller)
    return frozenset(affected)
