"""Models with daily batches for the fake engine, whose tables hold the windows that were merged, in their order."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from merge_runner.api import Project
from merge_runner.api.node_run import run_settings, with_sample
from merge_runner.engine.driver.driver import Driver
from merge_runner.engine.driver.driver_source import GivenDriver
from merge_runner.options.nodes import NodeOptions
from merge_runner.options.recorded_options import restore_options
from merge_runner.project.syntax.point_in_time import read_time
from merge_runner.run.build import build
from merge_runner.run.results.events import Events
from merge_runner.run.results.previous_run import last_invocation
from tests.fake_engine.driver import Starts

_MERGE = """\
merge into {{ this }} as t
using (select 1L as id, BATCH.START as at) as s on t.id = s.id and t.at >= BATCH.START and t.at < BATCH.END
when matched then update set *
when not matched then insert *
"""
_OVERLAPPING = _MERGE.replace("t.at", "s.at")
"""May match rows of any window."""
_PLAIN = """\
merge into {{ this }} as t
using (select 1L as id, date'2024-01-01' as at) as s on t.id = s.id
when matched then update set *
when not matched then insert *
"""
_PROFILE = """\
shop: {outputs: {dev: {master: 'local[2]', schema: shop, catalogs: {ice: {type: embedded}}}}}
"""
_NEWEST = "select unix_micros(cast("
"""How the query for the newest row of a table begins."""


def batch_files(models: Mapping[str, Mapping[str, Any] | None], format: str = "delta") -> dict[str, str]:
    """Return the files of models by path.

    The keys of a model: `parents`, `config` (its text, in addition to what its batches need), `overlaps` (its batches
    may match rows of each other), and `plain` (it has no batches).
    """
    files = {"profiles.yml": _PROFILE}
    for name, keys in models.items():
        model = keys or {}
        settings = {"event_time": "'at'", "batch_size": "'day'", "begin": "'2024-01-01'", "lookback": "0"}
        changes = dict(re.findall(r"(\w+)=('[^']*'|\[[^]]*\]|[^,]+)", model.get("config", "")))
        settings = (settings | changes) if not model.get("plain") else changes
        settings |= {"partition_by": "['at']"} | ({"format": f"'{format}'"} if format != "delta" else {})
        text = _PLAIN if model.get("plain") else _OVERLAPPING if model.get("overlaps") else _MERGE
        text = re.sub(r"BATCH\.(\w+)", lambda match: f"{{{{ batch.{match[1].lower()} }}}}", text)
        parents = [f"-- depends_on: {{{{ ref('{parent}') }}}}" for parent in model.get("parents", ())]
        config = ", ".join(f"{key}={value}" for key, value in settings.items())
        files[f"models/{name}.sql"] = "\n".join([f"{{{{ config({config}) }}}}", *parents, text])
        columns = [{"name": "id", "data_type": "bigint"}, {"name": "at", "data_type": "date"}]
        files[f"models/{name}.yml"] = json.dumps({"models": [{"name": name, "columns": columns}]})
    return files


def window_of(text: str) -> str:
    """Return the window that a MERGE is for, as the record of a table has it; `all` where it has no batches."""
    bounds = [re.search(rf"{operator} date'(.{{10}})'", text) for operator in (">=", "<")]
    return "/".join(bound[1] if bound is not None else "all" for bound in bounds)


def add_window(text: str, rows: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, int]]:
    """Merge the window of a text into rows that are windows, once more where it is there already; or delete it."""
    if text.startswith("DELETE"):
        return tuple(row for row in rows if row != window_of(text)), {}
    return (*rows, window_of(text)), {"inserted": 1}


def answers(newest: str | None = None) -> dict[str, Any]:
    """Return the answers of a driver whose tables have rows up to a time, where others have filled them."""
    micros = None if newest is None else int(read_time(newest).timestamp()) * 1_000_000
    return {_NEWEST: [{"newest": micros}], "call tidy": []}


def run_at(
    root: Path,
    now: str | datetime,
    driver: Driver | Starts,
    command: str = "build",
    target_path: str = "target",
    **options: Any,
) -> None:
    """Run a command of a project as if it were asked at a time: `build`, or `retry` of the last one."""
    project = Project.load(root, full_refresh=options.get("full_refresh", False), target_path=target_path)
    if command == "retry":
        last = last_invocation(project.prepared.target_path)
        chosen = restore_options(NodeOptions(**options), last.args, set(options))
        ids = tuple(node for node in last.undone if node in project.graph.nodes)
        name = last.command
    else:
        last, chosen, name = None, NodeOptions(**options), "build"
        ids = project.selected_by(chosen).ids
    settings = run_settings(project.prepared, name, chosen, ids, last, ids)
    prepared = with_sample(project.prepared, chosen)
    build(
        prepared,
        ids,
        name,
        replace(settings, now=read_time(now), reuse="off"),
        Events(),
        driver if isinstance(driver, Starts) else GivenDriver(driver),
    )
