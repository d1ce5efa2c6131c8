"""`diff --rebuild` after changes of the flights project: each change of logic shows, and no refactoring does.

So does the comment of a pull request.
"""

import re
import shutil
from pathlib import Path

import pytest

from merge_runner import Project
from merge_runner.run.diff.comment import comment
from tests.yaml_data import read_yaml

from . import expected
from .project_copy import copy_of_days

CHANGES = read_yaml(Path(__file__).with_name("logic_changes.yml"))
pytestmark = [
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.skipif(bool(expected.missing_files()), reason="the data is missing: run `make data`"),
]


@pytest.fixture(scope="module")
def two_days(driver, tmp_path_factory):
    """A copy of the project, built for two days, what loads it, and its base: another copy, that stays as it is."""
    folder = tmp_path_factory.mktemp("changes")
    root = copy_of_days(folder / "project", "2013,1,31,", "2013,2,1,")
    output = f"{{master: 'local[2]', schema: flights_changes, warehouse: {folder}/warehouse}}"
    (root / "profiles.yml").write_text(f"flights: {{outputs: {{test: {output}}}}}\n")

    def project():
        return Project.load(root, vars={"from": "2013-01-31", "to": "2013-02-02"})

    models = sorted({f"+{change['model']}" for change in CHANGES})
    tests = ("resource_type:test", "resource_type:unit_test")
    assert project().build(models, tests, driver=driver, lint=False).ok
    base = shutil.copytree(root, folder / "base", ignore=shutil.ignore_patterns("data", "target"))
    return root, project, base


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change["name"].replace(" ", "_"))
def test_a_change_of_logic_shows_and_a_refactoring_does_not(two_days, driver, change):
    root, project, base = two_days
    (path,) = root.glob(f"models/*/{change['model']}.sql")
    text = path.read_text()
    changed = text
    for replacement in filter(None, (change["replaces"], change.get("also"))):
        changed = changed.replace(*replacement)
    assert changed != text
    try:
        path.write_text(changed)
        report = project().diff(change["model"], rebuild=True, driver=driver)
        markdown = comment(project().branch_changes(base, change["model"]), report)
    finally:
        path.write_text(text)
    (model,) = report.models
    assert model.equal is bool(change.get("refactoring"))
    assert set(model.columns) >= set(change.get("shows", ()))
    assert (model.rows.only_left > 0, model.rows.only_right > 0) == (
        change.get("only_left", False),
        change.get("only_right", False),
    )
    if change.get("refactoring"):
        changed_models = f"Changed: `{change['model']}` (text)."
        assert markdown.splitlines()[1:] == [f"**merge-runner**: no difference that can be seen. {changed_models}"]
        return
    assert f"\n#### `{change['model']}` (text)\n" in markdown
    (rows,) = re.findall(r"(?m)^- rows: `(.*)`$", markdown)
    for words, count in (
        ("changed", model.rows.changed),
        ("only in flights_changes.", model.rows.only_left),
        ("only in a rebuild", model.rows.only_right),
    ):
        assert (f"{count:,} {words}" in rows) is (count > 0), rows
    for name, count in model.columns.items():
        assert re.search(rf"(?m)^  changed rows by column: .*\b{name} {count:,}", markdown), markdown
