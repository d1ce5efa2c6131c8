"""What a build says of an author's mistakes that only the engine sees: the place, what is wrong, what to do."""

from pathlib import Path

import pytest

from merge_runner import Project
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("mistakes.yml"))
YAML = """\
sources:
  - name: raw
    schema: SCHEMA_raw
    tables:
      - {name: no_file, path: data/nothing.json, format: json, columns: [{name: id, data_type: int}]}
      - {name: no_delta, path: data/nothing, format: delta}
      - {name: no_parquet, path: data/text.txt, format: parquet}
models:
  - name: hooked
    config:
      post_hook:
        - select 1
        - select nope from {{ this }}
seeds:
  - name: typed
    columns: [{name: id, data_type: int}, {name: name, data_type: string}]
"""
ONE = "select 1 as id, 'a' as name"


@pytest.mark.spark
def test_what_the_author_did_wrong_is_said_with_place_and_remedy(make_project, driver):
    files = {f"models/{case['name']}.sql": _model(case) for case in CASES}
    root = make_project({"models/one.sql": ONE, "data/text.txt": "no Parquet", **files})
    schema = read_yaml(root / "profiles.yml")["shop"]["outputs"]["dev"]["schema"]
    (root / "models/m.yml").write_text(YAML.replace("SCHEMA", schema))
    for name in ("long", "typed"):
        (root / f"seeds/{name}.csv").parent.mkdir(exist_ok=True)
        (root / f"seeds/{name}.csv").write_text("id,name\n1,a\n2,b,and one more\n")
    results = Project.load(root).build(driver=driver, lint=False)
    assert results["one"].status == "success"
    for case in CASES:
        result = results[case["name"]]
        expected = case["message"].replace("PATH", str(root)).replace("SCHEMA", schema)
        assert (result.status, result.message[: len(expected)]) == ("error", expected)
    # A value that no column takes is an error, whether the columns of a seed are declared or not.
    assert {name: results[name].status for name in ("long", "typed")} == {"long": "error", "typed": "error"}


def _model(case):
    config = f"materialized='table'{', ' + case['config'] if 'config' in case else ''}"
    return f"{{{{ config({config}) }}}}\n{case['sql']}"
