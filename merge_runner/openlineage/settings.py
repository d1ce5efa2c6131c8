"""Where OpenLineage events go: `openlineage` of the profile's output, else the variables of OpenLineage's clients."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merge_runner.project.schema.profile import Profile

NAMESPACE = "merge-runner"
"""The namespace of jobs where nothing sets one."""
_TRANSPORTS = ("OPENLINEAGE_URL", "OPENLINEAGE_CONFIG")
_TRANSPORT = "OPENLINEAGE__TRANSPORT"
FILE = "openlineage.jsonl"
"""The file of `transport: file` in the target folder, where the profile names no other."""


@dataclass(frozen=True)
class RunRef:
    """A run of a job, as another job's facet names it."""

    run_id: str
    namespace: str
    name: str

    def as_json(self) -> dict[str, Any]:
        """Return `run` and `job` as the facet `parent` has them."""
        return {"run": {"runId": self.run_id}, "job": {"namespace": self.namespace, "name": self.name}}


@dataclass(frozen=True)
class LineageSettings:
    """What is asked for. `file` is a file of JSON lines, which needs no client; else `transport` is for the client.

    `transport` None: the client reads its own environment. `parent` started this invocation, `root` is what began it
    all.
    """

    namespace: str = NAMESPACE
    file: Path | None = None
    transport: Mapping[str, Any] | None = None
    parent: RunRef | None = None
    root: RunRef | None = None


def lineage_settings(profile: Profile, root: Path, target_path: Path, env: Mapping[str, str]) -> LineageSettings | None:
    """Return where events go; None: neither profile nor environment sets it.

    A relative path of the profile is relative to the project, at `root`.
    """
    if env.get("OPENLINEAGE_DISABLED", "").casefold() in ("true", "1"):
        return None
    options = dict(profile.openlineage)
    kind = options.pop("transport", None)
    namespace = str(options.pop("namespace", None) or env.get("OPENLINEAGE_NAMESPACE") or NAMESPACE)
    parent, first = _parent(env)
    if kind == "file":
        path = root / str(options["path"]) if "path" in options else target_path / FILE
        return LineageSettings(namespace, file=path, parent=parent, root=first)
    if kind is not None:
        return LineageSettings(namespace, transport={"type": kind, **options}, parent=parent, root=first)
    if any(env.get(name) for name in _TRANSPORTS) or any(name.startswith(_TRANSPORT) for name in env):
        return LineageSettings(namespace, parent=parent, root=first)
    return None


def _parent(env: Mapping[str, str]) -> tuple[RunRef | None, RunRef | None]:
    """Return what started this invocation and its root, as an orchestrator says in OPENLINEAGE_CONTEXT or _PARENT_ID.

    A value that cannot be read is none, as for dbt-ol.
    """
    context = _context(env.get("OPENLINEAGE_CONTEXT", ""))
    if context is not None:
        return context
    parent = _ref(env.get("OPENLINEAGE_PARENT_ID", ""))
    return parent, (_ref(env.get("OPENLINEAGE_ROOT_PARENT_ID", "")) or parent) if parent is not None else None


def _context(text: str) -> tuple[RunRef, RunRef] | None:
    try:
        data = json.loads(text)["parent"]
        parent = RunRef(str(data["run"]["runId"]), str(data["job"]["namespace"]), str(data["job"]["name"]))
        root = data.get("root") or data
        run, job = root.get("run") or data["run"], root.get("job") or data["job"]
        return parent, RunRef(str(run["runId"]), str(job["namespace"]), str(job["name"]))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _ref(text: str) -> RunRef | None:
    """Read `namespace/name/runId`; the namespace may have slashes."""
    parts = text.rsplit("/", 2)
    return RunRef(parts[2], parts[0], parts[1]) if len(parts) == 3 and all(parts) else None
