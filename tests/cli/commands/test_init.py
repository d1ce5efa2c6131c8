"""`init --pattern`: each starter is linted clean, and its MERGE prunes."""

import json
import re

import pytest
import yaml

from merge_runner.project.scaffold import PATTERNS

_RUNTIME = ("upsert", "scd1", "cdc", "soft_delete", "insert_only", "accumulating_snapshot", "gdpr_delete")
VERDICTS = {
    **dict.fromkeys(_RUNTIME, "runtime"),
    **dict.fromkeys(("scd2", "snapshot_partition", "late_facts"), "static"),
    "history_by_source": "none",  # what BY SOURCE means: no file of the target can be skipped
}


def with_format(shop, table_format):
    """Iceberg has no clustering: the tables are partitioned by buckets of the column."""
    if table_format == "iceberg":
        settings = shop / "pyproject.toml"
        settings.write_text(settings.read_text().replace('"delta"', '"iceberg"'))
        profiles = yaml.safe_load((shop / "profiles.yml").read_text())
        for output in profiles["shop"]["outputs"].values():
            output["catalogs"] = {"ice": {"type": "embedded"}}
        (shop / "profiles.yml").write_text(yaml.safe_dump(profiles))
        for model in (shop / "models").glob("*.sql"):
            text = re.sub(r"cluster_by=\['(\w+)'\]", r"partition_by=['bucket(8, \1)']", model.read_text())
            model.write_text(text)


@pytest.mark.parametrize("table_format", ["delta", "iceberg"])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_starter_is_linted_clean_and_prunes(call, tmp_path, pattern, table_format):
    assert call("init", "shop", "--pattern", pattern).returncode == 0
    with_format(tmp_path / "shop", table_format)
    linted = call("lint", "--format", "json", cwd=tmp_path / "shop")
    report = json.loads(linted.stdout)
    assert (linted.returncode, report["findings"]) == (0, [])
    assert {merge["verdict"] for merge in report["merges"]} == {VERDICTS[pattern]}
    models = [file for file in (tmp_path / "shop/models").glob("*.sql") if "merge_patterns" in file.read_text()]
    for model in models:
        assert call("eject", model.stem, cwd=tmp_path / "shop").returncode == 0
        assert "merge_patterns" not in model.read_text()
    again = call("lint", "--format", "json", cwd=tmp_path / "shop")
    ejected = json.loads(again.stdout)
    assert (again.returncode, ejected["findings"], len(models) > 0) == (0, [], True)
    assert {merge["verdict"] for merge in ejected["merges"]} == {VERDICTS[pattern]}


def test_the_manifest_has_the_macros_of_a_package_that_are_called(call, tmp_path):
    call("init", "shop", "--pattern", "upsert")
    assert call("parse", cwd=tmp_path / "shop").returncode == 0
    manifest = json.loads((tmp_path / "shop/target/manifest.json").read_text())
    macro = manifest["macros"]["macro.merge_patterns.upsert"]
    assert (macro["package_name"], macro["path"]) == ("merge_patterns", "merge_patterns/upsert.sql")
    assert "macro.merge_patterns.scd2" not in manifest["macros"]
    assert "macro.merge_patterns.upsert" in manifest["nodes"]["model.shop.customer"]["depends_on"]["macros"]


def test_a_model_that_calls_another_macro_of_a_package_has_it_in_the_manifest(call, tmp_path):
    call("init", "shop", "--pattern", "upsert")
    shop = tmp_path / "shop"
    call("ls", cwd=shop)
    model = shop / "models/customer.sql"
    model.write_text(
        model.read_text().replace("upsert(", "scd1(").replace("['name', 'city']", "['name'], sequence_by='city'")
    )
    assert call("parse", cwd=shop).returncode == 0
    assert "macro.merge_patterns.scd1" in json.loads((shop / "target/manifest.json").read_text())["macros"]
