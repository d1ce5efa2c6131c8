"""What a process of lint takes from earlier ones: files that have not changed since are not looked at again."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

MERGE = (
    "merge into {{ this }} as t using (select 1 as id, 2 as c) as s on t.id = s.id CONDITION\n"
    "when matched then update set * when not matched then insert *\n"
)
MODELS = {
    "plain": MERGE.replace("CONDITION", ""),
    "hidden": MERGE.replace("CONDITION", "-- noqa: P001 -- it is small"),
    "unused": MERGE.replace("CONDITION", "and t.id = 1 and s.id = 1 -- NOQA: P003 -- nothing to hide"),
}
EDITS = {
    "another text": ("plain", MERGE.replace("CONDITION", "and t.c > 1 and s.c > 1")),
    "a comment comes": ("plain", MERGE.replace("CONDITION", "-- noqa")),
    "a comment goes": ("hidden", MODELS["plain"]),
    "the same as before": ("plain", MODELS["plain"]),
}


def lint(root: Path, *more: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "merge_runner", "lint", "--format", "json", *more]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert run.stderr == ""
    return run.returncode, run.stdout


@pytest.mark.slow
def test_files_that_are_not_looked_at_again_count_as_they_are(tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.merge-runner]\nname = "shop"\n')
    (tmp_path / "profiles.yml").write_text("shop: {outputs: {dev: {schema: shop}}}\n")
    for name, text in MODELS.items():
        (tmp_path / "models" / f"{name}.sql").write_text(text)
    assert lint(tmp_path) == lint(tmp_path, "--no-cache")
    for model, text in EDITS.values():
        (tmp_path / "models" / f"{model}.sql").write_text(text)
        whole, part = lint(tmp_path, "--no-cache"), lint(tmp_path, "--no-cache", "models/unused.sql")
        assert lint(tmp_path) == whole
        assert lint(tmp_path, "models/unused.sql") == part
        assert lint(tmp_path) == whole
