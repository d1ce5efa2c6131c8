"""What README and Coming from dbt show of lint is what lint finds."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import tomli

from merge_runner import Project
from tests.docs.command_lines import ROOT
from tools.lint_picture import PICTURE, terminal_text

_SOURCE = """
version: 2
sources:
  - name: raw
    tables:
      - name: orders
        columns:
          - {name: order_id, data_type: bigint}
          - {name: order_date, data_type: date}
          - {name: amount, data_type: double}
          - {name: updated_at, data_type: timestamp}
"""


def test_the_picture_in_readme_is_what_lint_prints():
    texts = ElementTree.parse(ROOT / PICTURE).iter("{http://www.w3.org/2000/svg}text")
    shown = "".join(text.text or "" for text in texts)
    assert "error[P005]" in shown and str(PICTURE) in (ROOT / "README.md").read_text(encoding="utf-8")
    assert _without_spaces(shown) == _without_spaces("lint" + terminal_text(ROOT).plain)  # behind the window's title


def test_the_badges_in_readme_are_true():
    project = tomli.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pythons = [line.rpartition(" ")[2] for line in project["classifiers"] if "Python :: 3." in line]
    lines = sorted(name[5:] for name in project["optional-dependencies"] if re.fullmatch(r"spark\d\d", name))
    badges = re.findall(r"img.shields.io/badge/(.+?)-blue", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert badges == [
        f"Python-{pythons[0]}_to_{pythons[-1]}",
        f"Spark-{'.'.join(lines[0])}_to_{'.'.join(lines[-1])}",
        f"license-{project['license'].replace('-', '--')}",
    ]
    assert (ROOT / ".github/workflows/ci.yml").is_file()


def _without_spaces(text: str) -> str:
    return re.sub(r"\s", "", text)


def test_the_model_in_coming_from_dbt_prunes_and_is_free_of_errors(make_project):
    page = (ROOT / "docs/getting-started/from-dbt.md").read_text(encoding="utf-8")
    (model,) = (text for text in re.findall(r"```sql\n(.*?)```", page, re.S) if "merge into" in text)
    staging = "select order_id, order_date, amount, updated_at from {{ source('raw', 'orders') }}"
    files = {"models/fct_order.sql": model, "models/stg_order.sql": staging, "models/models.yml": _SOURCE}
    report = Project.load(make_project(files)).lint()
    assert {finding.code for finding in report.findings} <= {"C002", "C003"}  # they depend on the tests of stg_order
    assert [merge.verdict for merge in report.merges] == ["static"]
