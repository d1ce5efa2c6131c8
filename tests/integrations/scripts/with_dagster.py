"""Runs in an environment with Dagster and what merge-runner needs, without Spark: FOLDER → JSON.

FOLDER has a Dagster project whose defs.yaml loads the component, and phases.json: by name, the attributes of the component,
what the processes of merge-runner do (`turns`), and what is run.
"""

import json
import os
import sys
from pathlib import Path

import dagster as dg

from merge_runner.integrations.dagster.assets import table_specs
from merge_runner.integrations.dagster.results import Declarations
from merge_runner.integrations.dagster.specs import declared_checks
from merge_runner.integrations.project import OrchestratedProject

folder = Path(sys.argv[1])
sys.path.insert(0, str(folder / "src"))
os.environ["DAGSTER_HOME"] = str(folder / "home")
(folder / "home").mkdir(exist_ok=True)


def shown(value):
    return value.value if hasattr(value, "value") else value


def run(defs, selection=None, partition=None, tags=None):
    """Materialize assets in this process; return what Dagster has recorded."""
    wanted = dg.AssetSelection.assets(*selection) if selection else dg.AssetSelection.all()
    everything = dg.Definitions.merge(defs, dg.Definitions(jobs=[dg.define_asset_job("chosen", wanted)]))
    result = everything.resolve_job_def("chosen").execute_in_process(
        partition_key=partition, tags=tags, raise_on_error=False, instance=dg.DagsterInstance.get()
    )
    return {
        "success": result.success,
        "materialized": {
            event.materialization.asset_key.to_user_string(): {
                **{name: shown(value) for name, value in event.materialization.metadata.items()},
                "data version": (event.materialization.tags or {}).get("dagster/data_version"),
            }
            for event in result.get_asset_materialization_events()
        },
        "partitions": sorted(
            {event.materialization.partition for event in result.get_asset_materialization_events()} - {None}
        ),
        "partitions of assets": sorted(
            [event.materialization.asset_key.to_user_string(), event.materialization.partition]
            for event in result.get_asset_materialization_events()
            if event.materialization.partition is not None
        ),
        "checks": {
            f"{each.asset_key.to_user_string()}.{each.check_name}": [
                each.passed,
                each.severity.value,
                {name: shown(value) for name, value in each.metadata.items()},
            ]
            for each in result.get_asset_check_evaluations()
        },
        "failures": [
            event.step_failure_data.error.message
            for event in result.all_events
            if event.is_step_failure and event.step_failure_data.error
        ],
    }


def declared(defs):
    """What the definitions say of assets and checks."""
    graph = defs.resolve_asset_graph()
    specs = {spec.key.to_user_string(): spec for spec in defs.resolve_all_asset_specs()}
    return {
        "assets": {
            key: {
                "deps": sorted(dep.asset_key.to_user_string() for dep in spec.deps),
                "group": spec.group_name,
                "kinds": sorted(spec.kinds),
                "owners": list(spec.owners),
                "tags": sorted(tag for tag in spec.tags if not tag.startswith("dagster/")),
                "description": spec.description,
                "code version": bool(spec.code_version),
                "table": spec.metadata.get("dagster/table_name"),
                "partitions": None
                if spec.partitions_def is None
                else [spec.partitions_def.get_first_partition_key(), spec.partitions_def.cron_schedule],
                "columns": [
                    [column.name, column.type, column.constraints.nullable]
                    for column in getattr(shown(spec.metadata.get("dagster/column_schema")), "columns", ())
                ],
                "freshness": None
                if spec.freshness_policy is None
                else [
                    spec.freshness_policy.warn_window.to_timedelta().total_seconds(),
                    spec.freshness_policy.fail_window.to_timedelta().total_seconds(),
                ],
            }
            for key, spec in specs.items()
        },
        "checks": sorted(key.to_user_string() for key in graph.asset_check_keys),
        "can subset": all(
            each.can_subset for each in defs.resolve_all_asset_specs() and graph.assets_defs if each.is_executable
        ),
        "backfill": sorted(
            {
                "single run"
                if each.backfill_policy and each.backfill_policy.max_partitions_per_run is None
                else "other"
                for each in graph.assets_defs
                if any(spec.partitions_def is not None for spec in each.specs)
            }
        ),
    }


def reported(project, results):
    """What Dagster is given of recorded results."""
    tables = OrchestratedProject(Path(project)).tables()
    keys = {unique_id: spec.key for unique_id, spec in table_specs(tables).items()}
    checks = list(declared_checks(tables, keys))
    given = Declarations(
        keys,
        {each.unique_id: each for each in checks if each.selector},
        {each.unique_id: each for each in checks if not each.selector},
        {},
    )
    found = []
    for result in results:
        for each in given.report(result):
            kind = "check" if isinstance(each, dg.AssetCheckResult) else "asset"
            what = {name: shown(value) for name, value in each.metadata.items()}
            ended = (
                [each.check_name, each.passed] if kind == "check" else [each.data_version and each.data_version.value]
            )
            found.append([kind, each.asset_key.to_user_string(), *ended, what])
    return found


def loaded(turns, attributes):
    """The definitions of a Dagster project with these attributes; its processes of merge-runner take these turns."""
    file = Path(attributes["env"]["FAKE_ENGINE"])
    for each in file.parent.glob("turns.*"):
        each.unlink()
    file.write_text(json.dumps(turns))
    document = {"type": "merge_runner.integrations.dagster.MergeRunnerComponent", "attributes": attributes}
    (folder / "src/company/defs/shop/defs.yaml").write_text(json.dumps(document))
    return dg.load_from_defs_folder(path_within_project=folder)


def command_lines(file):
    """What the processes of merge-runner that built were called with."""
    files = sorted(file.parent.glob("turns.[0-9]*"), key=lambda each: int(each.suffix[1:]))
    lines = [json.loads(each.read_text()) for each in files]
    return [[word for word in line if word not in ("--log-format", "json")] for line in lines]


report = {}
for name, phase in json.loads((folder / "phases.json").read_text()).items():
    defs = loaded(phase.get("turns", [{}]), phase["attributes"])
    report[name] = found = {}
    if phase.get("declared"):
        found |= declared(defs)
    if "results" in phase:
        found["reported"] = reported(phase["project"], phase["results"])
    if "run" in phase:
        found |= run(defs, **phase["run"])
    found["commands"] = command_lines(Path(phase["attributes"]["env"]["FAKE_ENGINE"]))
sys.stdout.write(f"REPORT {json.dumps(report, default=str)}\n")
