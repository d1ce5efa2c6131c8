"""The files that are written of planned nodes: compiled texts and the manifest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone

from merge_runner.atomic import write_atomic
from merge_runner.graph.artifact import Metadata
from merge_runner.graph.graph import UnitTestNode
from merge_runner.graph.manifest import CompiledText, manifest
from merge_runner.plan.load.project_context import Prepared
from merge_runner.plan.steps.node_plan import NodePlan
from merge_runner.version import version


def write_texts(prepared: Prepared, plans: Mapping[str, NodePlan], folders: Iterable[str]) -> None:
    """Writes the compiled texts below target/<folder>/<project>, at the paths of the authors' files."""
    root = prepared.target_path
    for unique_id, plan in plans.items():
        if plan.sql:
            for folder in folders:
                path = root / folder / compiled_path(prepared, unique_id)
                write_atomic(path, prepared.conceal(plan.sql), below=root)


def write_running_plan(prepared: Prepared, planned: NodePlan, running: NodePlan) -> None:
    """Write the text of the plan that runs of a node that has several, and log what its template logs."""
    if running is not planned and running.rendered is not None:
        for log in running.rendered.logs:  # those of the other text were logged when it was planned
            prepared.on_log(log)
    write_texts(prepared, {running.unique_id: running}, ("compiled", "run"))


def write_run_text(prepared: Prepared, unique_id: str, text: str) -> None:
    """Replaces the text below target/run by that which runs, bounds and pinned versions included."""
    path = prepared.target_path / "run" / compiled_path(prepared, unique_id)
    write_atomic(path, prepared.conceal(text), below=prepared.target_path)


def text_path(prepared: Prepared, unique_id: str, folder: str) -> str:
    """Return the path of a node's text in `compiled` or `run`, relative to the project where target/ is in it."""
    path = prepared.target_path / folder / compiled_path(prepared, unique_id)
    root = prepared.files.root
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


def compiled_path(prepared: Prepared, unique_id: str) -> str:
    """The path of a node's compiled text below target/compiled and target/run."""
    node = prepared.graph.nodes[unique_id]
    name = node.path
    if isinstance(node, UnitTestNode):
        # Names of unit tests are free text, and several models may use the same one.
        name += f"/{node.unit_test.model}.{re.sub(r'[^A-Za-z0-9_]+', '_', node.name)}.sql"
    elif not name.endswith(".sql"):
        digest = unique_id.rpartition(".")[2]
        name += f"/{node.name}{f'_{digest}' if unique_id in prepared.graph.tests_of_one_name else ''}.sql"
    return f"{prepared.graph.project}/{name}"


def write_manifest(prepared: Prepared, invocation_id: str, plans: Mapping[str, NodePlan] | None = None) -> None:
    """Replaces target/manifest.json in one step."""
    compiled = {
        unique_id: CompiledText(plan.sql, f"{prepared.target_path.name}/compiled/{compiled_path(prepared, unique_id)}")
        for unique_id, plan in (plans or {}).items()
        if plan.sql
    }
    metadata = Metadata(datetime.now(timezone.utc), invocation_id, version())
    files = prepared.files
    document = manifest(prepared.graph, metadata, compiled=compiled, selectors=files.selectors, groups=files.groups)
    write_atomic(prepared.target_path / "manifest.json", json.dumps(prepared.concealed(document), default=str))
