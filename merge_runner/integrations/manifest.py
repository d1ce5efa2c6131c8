"""What an orchestrator shows of a project: tables, what each reads, and its tests. Read from manifest.json."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, Literal

from merge_runner.api.batches import first_batch
from merge_runner.errors import Problem, ProblemsError
from merge_runner.project_file import read_json


@dataclass(frozen=True)
class Check:
    """A data test or a unit test. `also` are the other tables that it reads."""

    unique_id: str
    name: str
    kind: Literal["data test", "unit test"]
    selector: str
    """What selects it alone: `--select SELECTOR --indirect-selection empty`."""
    description: str
    severity: Literal["error", "warn"]
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A model or a seed that is a table or a view. Ephemeral models are none; what reads one reads its parents."""

    unique_id: str
    name: str
    entry: Mapping[str, Any]
    """Its entry in the manifest."""
    parents: tuple[str, ...]
    """The ids of the tables and sources that it reads."""
    checks: tuple[Check, ...]
    """The tests that end with it: those of which it is the last parent in the order of the DAG."""

    @property
    def config(self) -> Mapping[str, Any]:
        """Its config."""
        config: Mapping[str, Any] = self.entry["config"]
        return config

    @property
    def first_batch(self) -> datetime | None:
        """When the first of its batches begins (UTC); None: it has none."""
        return first_batch(self.config)

    @property
    def selector(self) -> str:
        """What selects it alone: `--select SELECTOR --indirect-selection empty`."""
        return f"path:{self.entry['original_file_path']}"

    @property
    def relation(self) -> str:
        """The name of the table."""
        return str(self.entry["relation_name"])

    @property
    def meta(self) -> Mapping[str, Any]:
        """Its `meta`."""
        return {**(self.entry.get("meta") or {}), **(self.config.get("meta") or {})}


@dataclass(frozen=True)
class ProjectTables:
    """The tables of a project by unique id, parents first, and the manifest's entries of the sources."""

    project: str
    tables: Mapping[str, Table]
    sources: Mapping[str, Mapping[str, Any]]

    @classmethod
    def read(cls, path: str | Path) -> ProjectTables:
        """Read a manifest.json. Raises ProblemsError where there is none that can be read."""
        try:
            return cls.of(read_json(path, None))
        except FileNotFoundError:
            problem = Problem("no-manifest", f"there is no {path}", hint="`merge-runner parse` writes it")
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            message = f"{path} is no manifest that can be read: {type(error).__name__}: {error}"
            problem = Problem("no-manifest", message, hint="`merge-runner parse` writes it")
        raise ProblemsError([problem])

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> ProjectTables:
        """Return the tables of a manifest."""
        nodes, sources = manifest["nodes"], manifest["sources"]
        order = {unique_id: at for at, unique_id in enumerate(_order(manifest))}
        stored_ids = sorted(
            (unique_id for unique_id, entry in nodes.items() if _is_table(entry)), key=order.__getitem__
        )
        checks: dict[str, list[Check]] = {unique_id: [] for unique_id in stored_ids}
        for unique_id, entry in [*nodes.items(), *manifest["unit_tests"].items()]:
            if entry["resource_type"] in ("test", "unit_test"):
                tested = sorted(set(_stored_parents(manifest, unique_id)) & checks.keys(), key=order.__getitem__)
                if tested:
                    checks[tested[-1]].append(_check(entry, tuple(tested[:-1])))
        return cls(
            str(manifest["metadata"]["project_name"]),
            {
                unique_id: Table(
                    unique_id,
                    str(nodes[unique_id]["name"]),
                    nodes[unique_id],
                    tuple(dict.fromkeys(_stored_parents(manifest, unique_id))),
                    tuple(checks[unique_id]),
                )
                for unique_id in stored_ids
            },
            sources,
        )

    def only(self, ids: frozenset[str]) -> ProjectTables:
        """Return the tables of these ids; what they read may be elsewhere."""
        return ProjectTables(
            self.project, {key: table for key, table in self.tables.items() if key in ids}, self.sources
        )


def _is_table(entry: Mapping[str, Any]) -> bool:
    return entry["resource_type"] in ("model", "seed") and entry["config"].get("materialized") != "ephemeral"


def _order(manifest: Mapping[str, Any]) -> list[str]:
    return list(TopologicalSorter(manifest["parent_map"]).static_order())


def _stored_parents(manifest: Mapping[str, Any], unique_id: str) -> Iterator[str]:
    """Yield the tables and sources that a node reads, through ephemeral models."""
    for parent in manifest["parent_map"].get(unique_id, ()):
        if parent in manifest["sources"] or _is_table(manifest["nodes"][parent]):
            yield parent
        else:
            yield from _stored_parents(manifest, parent)


def _check(entry: Mapping[str, Any], also: tuple[str, ...]) -> Check:
    return Check(
        entry["unique_id"],
        entry["name"],
        "unit test" if entry["resource_type"] == "unit_test" else "data test",
        ".".join(entry["fqn"]),
        entry.get("description") or "",
        "warn" if str(entry["config"].get("severity", "error")).lower() == "warn" else "error",
        also,
    )
