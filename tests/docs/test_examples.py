"""What README and Coming from dbt show of lint is what lint finds; its wording is tested elsewhere."""

from __future__ import annotations

import re

from merge_runner import Project
from merge_runner.cli.main import cli
from tests.docs.command_lines import ROOT

_FINDING = re.compile(r"^ *(orders\.sql:\d+:\d+ \w+\[\w+\] [\w-]+)", re.M)
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


def test_the_findings_in_readme_are_those_of_lint(tmp_path, monkeypatch, capsys):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    text, _, shown = readme.partition("$ cat orders.sql\n")[2].partition("$ merge-runner lint orders.sql\n")
    (tmp_path / "orders.sql").write_text(text)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["lint", "orders.sql"], "merge-runner", standalone_mode=False) == 1
    found = _FINDING.findall(capsys.readouterr().out)
    assert found == _FINDING.findall(shown.partition("\n```")[0])
    assert len(found) == 1


def test_the_model_in_coming_from_dbt_prunes_and_is_free_of_errors(make_project):
    page = (ROOT / "docs/getting-started/from-dbt.md").read_text(encoding="utf-8")
    (model,) = (text for text in re.findall(r"```sql\n(.*?)```", page, re.S) if "merge into" in text)
    staging = "select order_id, order_date, amount, updated_at from {{ source('raw', 'orders') }}"
    files = {"models/fct_order.sql": model, "models/stg_order.sql": staging, "models/models.yml": _SOURCE}
    report = Project.load(make_project(files)).lint()
    assert {finding.code for finding in report.findings} <= {"C002", "C003"}  # they depend on the tests of stg_order
    assert [merge.verdict for merge in report.merges] == ["static"]
