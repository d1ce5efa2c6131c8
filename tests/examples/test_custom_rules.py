"""The package with a rule, installed next to merge-runner: found, documented, configured, and part of the cache's key."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "custom_rules"
MODEL = """
merge into {{ this }} as t using {{ source('raw', 's') }} as s on t.id = s.id and t.dt = date'2024-01-01'
when matched then update set amount = s.amount
"""


@pytest.fixture
def lint(tmp_path):
    """Runs merge-runner in a project, with the package where pip would install it."""
    site = tmp_path / "site"
    shutil.copytree(EXAMPLE / "acme_rules", site / "acme_rules", ignore=shutil.ignore_patterns("__pycache__"))
    installed = site / "acme_merge_rules-1.0.dist-info"
    installed.mkdir()
    written = (EXAMPLE / "pyproject.toml").read_text().partition('[project.entry-points."merge_runner.rules"]\n')[2]
    (installed / "entry_points.txt").write_text(f"[merge_runner.rules]\n{written.partition('[')[0]}".replace('"', ""))
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-merge-rules\nVersion: 1.0\n")
    root = tmp_path / "shop"
    files = {
        "profiles.yml": "shop: {outputs: {dev: {master: 'local[2]', schema: shop}}}\n",
        "models/m.sql": MODEL,
        "models/m.yml": "sources: [{name: raw, tables: [{name: s}]}]\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)

    def run(*arguments, settings=""):
        (root / "pyproject.toml").write_text(f'[tool.merge-runner]\nname = "shop"\n{settings}')
        paths = os.pathsep.join((str(site), os.environ.get("PYTHONPATH", str(EXAMPLE.parents[1]))))
        return subprocess.run(
            [sys.executable, "-m", "merge_runner", *arguments],
            cwd=root,
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=False,
        )

    run.rule = site / "acme_rules" / "acme001_audit_column_missing.py"
    return run


def test_an_installed_rule_is_a_rule_like_any_other(lint):
    only = ("lint", "--rules", "ACME", "--format", "json")
    first = json.loads(lint(*only).stdout)["findings"]
    assert [(each["code"], each["line"], each["message"]) for each in first] == [
        ("ACME001", 3, "UPDATE does not set `updated_at`")
    ]
    assert first[0]["url"] == "https://example.com/acme-merge-rules#ACME001"

    options = '[tool.merge-runner.lint.rules.ACME001]\ncolumns = ["amount", "changed_by"]\n'
    configured = json.loads(lint(*only, settings=options).stdout)["findings"]
    assert [each["message"] for each in configured] == ["UPDATE does not set `changed_by`"]

    wrong = lint(*only, settings="[tool.merge-runner.lint.rules.ACME001]\ncolumn = []\n")
    assert wrong.returncode == 2
    assert 'pyproject.toml:4:1: error: rule ACME001: unknown key "column"' in wrong.stderr

    lint.rule.write_text(lint.rule.read_text().replace('f"UPDATE does not set', 'f"UPDATE leaves out'))
    changed = json.loads(lint(*only).stdout)["findings"]
    assert [each["message"] for each in changed] == ["UPDATE leaves out `updated_at`"]

    documented = lint("rule", "ACME001").stdout
    assert documented.startswith("ACME001 audit-column-missing (warning)\n\nAn UPDATE does not set the audit column.")
    assert "    [tool.merge-runner.lint.rules.ACME001]\n" in documented

    lint.rule.write_text("import nothing_that_is_installed\n")
    broken = lint(*only)
    assert broken.returncode == 2
    assert "the rules of the package acme-merge-rules cannot be imported" in broken.stderr
    assert "Traceback" not in broken.stderr
