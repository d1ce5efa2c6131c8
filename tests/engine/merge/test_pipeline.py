"""Each way from a MERGE to what the engine runs: tests/engine/merge/pipeline.yml, on the fake engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from merge_runner.api import Project
from tests.fake_engine import FakeDriver, Lake
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("pipeline.yml"))
SOURCE = "(select 1L as id, 1L as times)"
COLUMNS = [{"name": name, "data_type": "bigint"} for name in ("id", "times")]
ANSWERS = {
    "SELECT DISTINCT": [{"k0": 1}],
    "SELECT (": {"b0": "bigint"},
    "SELECT * FROM (select max": {"max(id)": "bigint"},
    "SELECT cast(`max(id)`": [{"k0": 1}],
    "SELECT * FROM (select 1L": [{"id": 1, "times": 1}],
    "CREATE OR REPLACE TEMPORARY VIEW": [],
}


def files(case):
    """The project of a case: the model `m`, and `p`, which its source may read."""
    config = case.get("config", "")
    merge = (
        f"{{{{ config({config}) }}}}\nmerge into {{{{ this }}}} as t\nusing {case.get('source', SOURCE)} as s on t.id = s.id\n"
        "when matched then update set times = s.times\nwhen not matched then insert *\n"
    )
    described = [{"name": name, "columns": COLUMNS} for name in ("m", "p")]
    return {
        "models/m.sql": merge,
        "models/p.sql": "{{ config(materialized='table') }}\nselect 1L as id, 1L as times\n",
        "models/all.yml": json.dumps({"models": described}),
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_what_is_sent(make_project, case):
    root, lake = make_project(files(case), case.get("format", "delta")), Lake()
    options = {"lint": False, "threads": 1, "reuse": False}
    first = Project.load(root).build(driver=FakeDriver(lake, {}, answers=ANSWERS), **options)
    assert first.ok, [result.message for result in first.results]
    driver = FakeDriver(lake, case.get("faults", {}), answers=ANSWERS)
    result = Project.load(root).build(driver=driver, select=["m"], **options)["m"]
    sent = [text for text in driver.statements if text.casefold().lstrip().startswith("merge into")]
    assert len(sent) == len(case["sent"])
    for text, piece in zip(sent, case["sent"], strict=True):
        assert piece in text
    assert driver.faults.left == {}
    if "error" in case:
        assert result.status == "error"
        assert result.message.startswith(case["error"])
    else:
        assert (result.message, result.adapter_response.get("variant")) == (result.message, case["variant"])
