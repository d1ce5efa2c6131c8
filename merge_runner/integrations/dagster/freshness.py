"""`freshness:` of sources as asset checks: `merge-runner source freshness` measures the age of the newest row.

Dagster reads the types of an op's arguments, so that annotations are not postponed here.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import dagster as dg

from merge_runner.integrations.dagster.specs import asset_key
from merge_runner.integrations.project import OrchestratedProject
from merge_runner.integrations.run_log import log_line

CHECK = "freshness"
_AGE = "max_loaded_at_time_ago_in_s"


def freshness_checks(
    project: OrchestratedProject, sources: Mapping[str, Mapping[str, Any]], name: str
) -> dg.AssetChecksDefinition | None:
    """Return one definition with a check for each source of the manifest that has `freshness`; None where none has."""
    with_limits = {unique_id: entry for unique_id, entry in sources.items() if _limits(entry)}
    if not with_limits:
        return None
    specs = {
        unique_id: dg.AssetCheckSpec(CHECK, asset=asset_key(entry), description=_limits(entry))
        for unique_id, entry in with_limits.items()
    }

    @dg.multi_asset_check(name=name, specs=list(specs.values()), can_subset=True)
    def freshness(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        selected_specs = {
            unique_id: spec for unique_id, spec in specs.items() if spec.key in context.selected_asset_check_keys
        }
        selectors = [
            f"source:{with_limits[unique_id]['source_name']}.{with_limits[unique_id]['name']}"
            for unique_id in selected_specs
        ]
        process = project.start(["source", "freshness"], ["--select", *selectors])
        finished = set()
        for event in process.events():
            line = log_line(event)
            if line is not None:
                getattr(context.log, line[0])(line[1])
            if event["event"] == "node_finished" and event["node"] in selected_specs:
                finished.add(event["node"])
                yield freshness_result(selected_specs[event["node"]], event["result"])
        if process.returncode and finished != set(selected_specs):
            raise dg.Failure(process.reason())

    return freshness


def freshness_result(spec: dg.AssetCheckSpec, result: Mapping[str, Any]) -> dg.AssetCheckResult:
    """Return the result of a source's check: its age in seconds plots over time."""
    response = result.get("adapter_response") or {}
    values: dict[str, Any] = {"merge_runner/status": result["status"]}
    if response.get(_AGE) is not None:
        values["merge_runner/age_seconds"] = float(response[_AGE])
    if response.get("max_loaded_at"):
        values["merge_runner/max_loaded_at"] = str(response["max_loaded_at"])
    if result.get("message"):
        values["merge_runner/message"] = str(result["message"])
    severity = dg.AssetCheckSeverity.WARN if result["status"] == "warn" else dg.AssetCheckSeverity.ERROR
    return dg.AssetCheckResult(
        asset_key=spec.asset_key,
        check_name=spec.name,
        passed=result["status"] == "pass",
        severity=severity,
        metadata=values,
    )


def _limits(entry: Mapping[str, Any]) -> str:
    """Return the limits as a text, empty where there are none."""
    limits = entry.get("freshness") or {}
    return ", ".join(
        f"{name} {limits[name]['count']} {limits[name]['period']}s"
        for name in ("warn_after", "error_after")
        if limits.get(name) and limits[name].get("count")
    )
