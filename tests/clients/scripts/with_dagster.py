"""Runs in an environment with dagster-dbt, which does not have merge-runner: PROJECT EXECUTABLE → JSON."""

import json
import os
import sys
from pathlib import Path

import dagster
from dagster_dbt import DbtCliResource, DbtProject, dbt_assets

root, executable = Path(sys.argv[1]), sys.argv[2]
dbt = DbtCliResource(project_dir=str(root), dbt_executable=executable)
dbt.cli(["parse", "--quiet"], target_path=root / "target").wait()
manifest = root / "target/manifest.json"


@dbt_assets(manifest=manifest, project=DbtProject(root))
def shop(context: dagster.AssetExecutionContext, dbt: DbtCliResource):
    yield from dbt.cli(["build"], context=context).stream()


os.environ.setdefault("DAGSTER_HOME", str(root.parent))
result = dagster.materialize([shop], resources={"dbt": dbt}, raise_on_error=False)
checks = {
    each.check_name: [each.passed, each.severity.value, each.metadata["dagster_dbt/failed_row_count"].value]
    for each in result.get_asset_check_evaluations()
}
materialized = {
    event.materialization.asset_key.to_user_string(): {
        name: value.value for name, value in event.materialization.metadata.items()
    }
    for event in result.get_asset_materialization_events()
}
spec = shop.specs_by_key[dagster.AssetKey("orders")]
report = {
    "success": result.success,
    "assets": sorted(key.to_user_string() for key in shop.keys),
    "parents": sorted(dep.asset_key.to_user_string() for dep in spec.deps),
    "description": spec.description,
    "tables": {key.to_user_string(): each.metadata["dagster/table_name"] for key, each in shop.specs_by_key.items()},
    "checks": checks,
    "materialized": materialized,
}
sys.stdout.write(f"REPORT {json.dumps(report)}\n")
