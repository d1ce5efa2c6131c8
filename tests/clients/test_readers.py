"""What reads artifacts and runs nothing: dbt-artifacts-parser, dbterd, dbt-coverage, recce, and elementary's client of dbt."""

import json
import subprocess
from pathlib import Path

import pytest

from merge_runner import Project
from merge_runner.cli.host import Host
from merge_runner.cli.main import main
from tests.dbt_schemas import schema_errors
from tests.fake_engine import FakeDriver, Lake, Starts
from tests.fake_engine.projects import model_files
from tests.run.test_catalog import write_table

pytestmark = pytest.mark.nightly
COVERAGE = ("dbt-coverage==0.5.0",)
PACKAGES = ("dbt-artifacts-parser==0.15.0", "dbterd==1.32.0", "PyYAML")
RECCE = ("recce==1.69.1", "dbt-core==1.11.16", "dbt-spark[PyHive]==1.11.0")
"""It reads through dbt-core, and wants an adapter: this one, which never connects."""
ELEMENTARY = ("elementary-data==0.26.1", "PyYAML")
"""It imports yaml, and does not bring it without dbt-core."""
ROOT = Path(__file__).parents[2]
SOURCES = {
    "models/m.yml": """
        sources:
          - name: raw
            loaded_at_field: at
            freshness: {warn_after: {count: 1, period: day}}
            tables: [{name: t, path: raw/t, format: delta}]
        """,
    "models/m.sql": "{{ config(materialized='view') }} select id from {{ source('raw', 't') }}",
    "analyses/a.sql": "select * from {{ ref('m') }}",
}
PROJECTS = [ROOT, *sorted(path.parent for path in ROOT.glob("examples/*/profiles.yml"))]


def test_dbt_artifacts_parser_reads_every_artifact(client, run_client, make_project, tmp_path):
    folder = tmp_path / "artifacts"
    for project in PROJECTS:
        Project.load(project, target_path=str(folder / project.name)).write_manifest()
    models = {"a": {"tests": ["unique"]}, "b": {"parents": ["a"]}, "bad": {}, "below": {"parents": ["bad"]}}
    built = Project.load(make_project(model_files(models)), target_path=str(folder / "built"))
    results = built.build(driver=FakeDriver(Lake(), {"bad": ["fails"]}), lint=False)
    assert {result.status for result in results.results} == {"success", "pass", "error", "skipped"}
    read = make_project(SOURCES)
    write_table(read / "raw/t", ("id", "long"))
    with_sources = Project.load(read, target_path=str(folder / "sources"))
    assert with_sources.catalog().path.is_file()
    with_sources.compile()
    now = 1_767_225_600_000_000
    asked = {"SELECT unix_micros": [{"loaded": now - 5_000_000, "now": now}]}
    assert with_sources.source_freshness(driver=FakeDriver(Lake(), answers=asked))["raw.t"].status == "pass"
    found = json.loads(run_client(client(*PACKAGES), "with_readers.py", folder))
    assert {name: kind for name, (kind, _) in found.items()} == {
        **{f"{project.name}/manifest": "ManifestV12" for project in PROJECTS},
        "built/manifest": "ManifestV12",
        "built/run_results": "RunResultsV6",
        "sources/manifest": "ManifestV12",
        "sources/catalog": "CatalogV1",
        "sources/sources": "SourcesV3",
    }
    assert found["built/run_results"][1] == len(results.results) == 5
    assert all(count for name, (_, count) in found.items() if name != "sources/catalog")


def catalog_of(manifest):
    """A catalog.json as `docs generate` of dbt writes it, with the declared columns."""

    def entry(node):
        columns = {
            name: {"type": column["data_type"] or "string", "index": number, "name": name, "comment": None}
            for number, (name, column) in enumerate(node["columns"].items(), start=1)
        }
        metadata = {"type": "table", "schema": node["schema"], "name": node["alias"], "database": node["database"]}
        empty = {"comment": None, "owner": None}
        return {"metadata": metadata | empty, "columns": columns, "stats": {}, "unique_id": node["unique_id"]}

    tables = {key: entry(node) for key, node in manifest["nodes"].items() if node["resource_type"] in ("model", "seed")}
    schema = "https://schemas.getdbt.com/dbt/catalog/v1.json"
    metadata = {**manifest["metadata"], "dbt_schema_version": schema}
    return {
        "metadata": {key: metadata[key] for key in ("dbt_schema_version", "dbt_version", "generated_at", "env")},
        "nodes": tables,
        "sources": {},
        "errors": None,
    }


def test_dbt_coverage_counts_the_tests_of_columns(client, shop):
    Project.load(shop).write_manifest()
    catalog = catalog_of(json.loads((shop / "target/manifest.json").read_text()))
    catalog["nodes"] = {key: entry for key, entry in catalog["nodes"].items() if entry["columns"]}
    (shop / "target/catalog.json").write_text(json.dumps(catalog))
    for kind, expected in {"test": [5, 3, 3], "unit-test": [1, 1, 2], "doc": [0, 0, 3]}.items():
        executable = client(*COVERAGE).parent / "dbt-coverage"
        command = [executable, "compute", kind, "--cov-report", f"{kind}.json"]
        subprocess.run(command, cwd=shop, check=True, capture_output=True, timeout=120)
        report = json.loads((shop / f"{kind}.json").read_text())
        assert [report.get("hits") or 0, report["covered"], report["total"]] == expected, kind


def test_dbterd_draws_what_data_tests_say(client, run_client, shop):
    """The catalog is the test's, since the tables are not built. dbterd needs a database, which two-part names do not have."""
    profile = "shop: {outputs: {dev: {master: 'local[2]', schema: lake.shop, catalogs: {lake: {type: embedded}}}}}"
    (shop / "profiles.yml").write_text(profile)
    Project.load(shop).write_manifest()
    manifest = json.loads((shop / "target/manifest.json").read_text())
    catalog = catalog_of(manifest)
    assert schema_errors(catalog) == []
    (shop / "target/catalog.json").write_text(json.dumps(catalog))
    drawn = run_client(client(*PACKAGES), "with_dbterd.py", shop / "target", "test_relationship")
    assert {line.split('"')[1] for line in drawn.splitlines() if line.startswith("Table ")} == {
        *("model.shop.customers", "model.shop.orders", "model.shop.stg_orders")
    }
    (reference,) = [line for line in drawn.splitlines() if line.startswith("Ref: ")]
    assert reference == 'Ref: "model.shop.customers"."customer_id" > "model.shop.orders"."id"'


def reported(out):
    return json.loads(next(line for line in out.splitlines() if line.startswith("REPORT "))[len("REPORT ") :])


def read_by_recce(client, run_client, project, tmp_path):
    """Return what recce reads of the folders `target` and `target-base`; it reports no use of it to anybody."""
    settings = tmp_path / "home/.recce/profile.yml"
    settings.parent.mkdir(parents=True)
    settings.write_text("{user_id: nobody, anonymous_tracking: false}\n")
    quiet = {"HOME": str(tmp_path / "home"), "RECCE_DISABLE_TELEMETRY": "1"}
    return reported(run_client(client(*RECCE), "with_recce.py", project, "target", "target-base", **quiet))


def test_recce_compares_two_states(client, run_client, shop, tmp_path):
    for folder in ("target-base", "target"):
        Project.load(shop, target_path=folder).write_manifest()
        manifest = json.loads((shop / folder / "manifest.json").read_text())
        (shop / folder / "catalog.json").write_text(json.dumps(catalog_of(manifest)))
        model = shop / "models/stg_orders.sql"
        model.write_text(model.read_text() + " where id > 0")
    report = read_by_recce(client, run_client, shop, tmp_path)
    ids = {name: f"model.shop.{name}" for name in ("stg_orders", "orders", "customers")}
    assert report == {
        "nodes": [*sorted(ids.values()), "seed.shop.raw_orders"],
        "parents": {
            "seed.shop.raw_orders": [],
            ids["stg_orders"]: ["seed.shop.raw_orders"],
            ids["orders"]: [ids["stg_orders"]],
            ids["customers"]: [ids["orders"]],
        },
        "columns": {
            "seed.shop.raw_orders": [],
            ids["stg_orders"]: [],
            ids["orders"]: ["amount", "id"],
            ids["customers"]: ["customer_id"],
        },
        "changes": {ids["stg_orders"]: "modified"},
        "modified": sorted(ids.values()),
    }


def test_recce_reads_the_flights_project(client, run_client, tmp_path):
    project = tmp_path / "read"
    project.mkdir()
    (project / "dbt_project.yml").write_text("{name: flights, profile: read}\n")
    manifest = Project.load(ROOT, target_path=str(project / "target")).write_manifest()
    Project.load(ROOT, target_path=str(project / "target-base")).write_manifest()
    report = read_by_recce(client, run_client, project, tmp_path)
    nodes = json.loads(manifest.read_text())
    kinds = ("model", "seed", "source", "exposure")
    known = {key for key in nodes["parent_map"] if key.partition(".")[0] in kinds}
    assert set(report["nodes"]) == known
    assert report["parents"] == {key: sorted(nodes["parent_map"][key]) for key in known}
    assert (report["changes"], report["modified"]) == ({}, [])


def test_elementary_runs_it_as_dbt_2_and_reads_its_lines(
    client, run_client, shop, merge_runner, make_project, capfd, tmp_path
):
    greeting = '{% macro greet(whom) %}{{ log("Elementary: hello " ~ whom, info=true) }}{% endmacro %}'
    (shop / "macros").mkdir()
    (shop / "macros/greet.sql").write_text(greeting)
    read = make_project(SOURCES)
    write_table(read / "raw/t", ("id", "long"))
    with_sources = Project.load(read, target_path=str(shop / "target"))
    now = 1_767_225_600_000_000
    asked = {"SELECT unix_micros": [{"loaded": now - 5_000_000, "now": now}]}
    with_sources.source_freshness(driver=FakeDriver(Lake(), answers=asked))
    root, lines = make_project(model_files({"bad": {}})), tmp_path / "lines.txt"
    with pytest.raises(SystemExit):
        main(
            ["build", "--no-lint", "--log-format", "dbt-json", "--project-dir", str(root)],
            Host(start=Starts(FakeDriver(Lake(), {"bad": ["fails"]}))),
        )
    lines.write_text(capfd.readouterr().out)
    python = client(*ELEMENTARY)
    report = reported(run_client(python, "with_elementary.py", shop, merge_runner, lines, DBT_LOG_FORMAT="json"))
    errors = report.pop("errors")
    assert any("Division by zero" in each for each in errors)
    assert report == {
        "ls": [
            *("raw_orders", "stg_orders", "orders", "known_amounts", "no_negative", "not_null_orders_id"),
            *("relationships_customers_customer_id__5a67edcb", "unique_orders_id", "a_row"),
        ],
        "ls of nothing": [],
        "operation": ["hello Ann"],
        "sources": [["source.shop.raw.t", "pass"]],
    }
