"""What Dagster is given of the events of a build: materializations and check results, while the build runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import dagster as dg

from merge_runner.integrations.dagster.partitions import done_partitions
from merge_runner.integrations.dagster.specs import EXPECTATION, DeclaredCheck
from merge_runner.integrations.figures import ENDED_WELL, failed_expectation, figures


@dataclass(frozen=True)
class Declarations:
    """The assets and the checks that may be reported: by the unique id of the node that is run for each."""

    assets: Mapping[str, dg.AssetKey]
    checks: Mapping[str, DeclaredCheck]
    expectations: Mapping[str, DeclaredCheck]
    """Of models with `expect_merge`."""
    batches: Mapping[str, dg.TimeWindowPartitionsDefinition]
    """The partitions of models with batches."""

    def report(
        self, result: Mapping[str, Any], is_of_partitions: bool = False
    ) -> Iterator[dg.MaterializeResult[None] | dg.AssetMaterialization | dg.AssetCheckResult]:
        """Yield what Dagster is given of an entry of run_results.json.

        `is_of_partitions`: the run is one of partitions, so that Dagster itself knows which a materialization is of.
        """
        unique_id, status = result["unique_id"], result["status"]
        if unique_id in self.checks:
            if status != "skipped":
                yield _check_result(self.checks[unique_id], result, status in ("pass", "no-op"))
            return
        expectation = self.expectations.get(unique_id)
        if expectation is not None and failed_expectation(result):
            yield _check_result(expectation, result, False)
        if unique_id in self.assets and unique_id in self.batches and not (is_of_partitions and status in ENDED_WELL):
            yield from self._of_batches(result)
        if unique_id in self.assets and status in ENDED_WELL:
            yield dg.MaterializeResult(
                asset_key=self.assets[unique_id],
                metadata=metadata(result),
                data_version=_data_version(result),
            )
            if expectation is not None:
                yield _check_result(expectation, result, True)

    def _of_batches(self, result: Mapping[str, Any]) -> Iterator[dg.AssetMaterialization]:
        """Yield a materialization of each partition whose batch has succeeded: of what was due, or beside a failure."""
        unique_id = result["unique_id"]
        for key, batch in done_partitions(self.batches[unique_id], result):
            values = {name: batch[name] for name in ("reason", "rows", "seconds", "message") if batch[name] is not None}
            yield dg.AssetMaterialization(
                self.assets[unique_id],
                partition=key,
                metadata={f"merge_runner/{name}": value for name, value in values.items()},
            )


def metadata(result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata of a materialization: numbers plot over time, and `dagster/row_count` is a table's size."""
    values: dict[str, Any] = {f"merge_runner/{key}": value for key, value in figures(result).items()}
    rows = (result.get("adapter_response") or {}).get("rows_affected")
    if values.get("merge_runner/operation") not in ("MERGE", "CREATE VIEW") and isinstance(rows, int):
        values["dagster/row_count"] = rows
    if result.get("compiled_code"):
        values["merge_runner/sql"] = dg.MetadataValue.md(f"```sql\n{result['compiled_code']}\n```")
    return values


def _data_version(result: Mapping[str, Any]) -> dg.DataVersion | None:
    version = (result.get("adapter_response") or {}).get("table_version")
    return None if version is None else dg.DataVersion(str(version))


def _check_result(check: DeclaredCheck, result: Mapping[str, Any], is_passed: bool) -> dg.AssetCheckResult:
    # What a test of severity `error` reports as `warn` has gone beyond `warn_if` alone.
    severity = dg.AssetCheckSeverity.WARN if result["status"] == "warn" else check.severity
    values: dict[str, Any] = {f"merge_runner/{key}": value for key, value in figures(result).items()}
    if check.spec.name == EXPECTATION:
        counted = (result.get("adapter_response") or {}).get("expect_merge") or {}
        values = {key: values[key] for key in ("merge_runner/message",) if key in values}
        values |= {f"merge_runner/{key}": value for key, value in counted.items()}
    return dg.AssetCheckResult(
        asset_key=check.spec.asset_key,
        check_name=check.spec.name,
        passed=is_passed,
        severity=severity,
        metadata=values,
    )
