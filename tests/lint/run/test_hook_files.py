"""MERGEs in the hooks of models and seeds are judged where the config has the hook."""

from __future__ import annotations

from pathlib import Path

import pytest

from merge_runner.api import Project
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("hooks.yml"))
OWN = "merge into {{ this }} as t using {{ source('raw', 's') }} as s on t.id = s.id when matched then delete\n"
SOURCES = "version: 2\nsources: [{name: raw, tables: [{name: s}]}]\n"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_merge_in_a_hook(make_project, case):
    config = f"{{{{ config({case.get('hook', '')}) }}}}{case.get('noqa', '')}\n"
    files = {"models/m.sql": config + OWN, "models/m.yml": SOURCES + case.get("yaml", "")}
    files |= {"macros/audit.sql": case["macros"]} if "macros" in case else {}
    if "seed" in case or "seed_settings" in case:
        files |= {"seeds/codes.csv": "id,n\n1,2\n", "seeds/codes.yml": "version: 2\n" + case.get("seed", "seeds: []\n")}
    root = make_project(files)
    with (root / "pyproject.toml").open("a", encoding="utf-8") as settings:
        settings.write(case.get("pyproject", case.get("seed_settings", "")))
    for _ in ("made", "kept from the first run"):
        report = Project.load(root).lint()
        own = [merge for merge in report.merges if (merge.path, merge.line) == ("models/m.sql", 2)]
        others = [[each.path, each.line, each.column, each.verdict] for each in report.merges if each not in own]
        assert (len(own), others) == (1, case["merges"])
        found = [
            finding for finding in report.findings if (finding.place.path, finding.place.line) != ("models/m.sql", 2)
        ]
        places = [(finding.code, finding.place) for finding in found if finding.severity != "info"]
        assert [[code, place.path, place.line, place.column] for code, place in places] == case["findings"]
        assert not any(finding.fix for finding in found)
