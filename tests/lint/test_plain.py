"""Plain .sql files: which are meant, how they are shown, and what is known of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from merge_runner.errors import ProblemsError
from merge_runner.lint.run.lint_files import Surroundings, lint_files
from merge_runner.lint.run.lint_project import LintOptions
from merge_runner.lint.run.plain_files import plain_files
from merge_runner.lint.suppress.baseline import Baseline
from merge_runner.project.schema.settings import LintSettings
from merge_runner.text import SourceText

MERGE = "merge into t using s on t.id = s.id when matched then delete\n"
DBT = Path(__file__).parent / "dbt_target"


@pytest.fixture
def root(tmp_path):
    files = {
        "a.sql": MERGE.encode(),
        "sub/b.SQL": MERGE.encode(),
        "sub/c.sql": ("\ufeff" + MERGE.replace("\n", "\r\n")).encode(),
        "empty.sql": b"",
        "select.sql": b"select 1 from {{ ref('x') }}",
        "utf16.sql": MERGE.encode("utf-16"),
        "binary.sql": bytes(range(256)),
        ".hidden/d.sql": MERGE.encode(),
        "w.yml": b"on: ${{ x.y }}",
        "readme.txt": b"merge into",
    }
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    return tmp_path


def lint(paths, shown_from, options=None, **more):
    around = Surroundings(shown_from, **more)
    return lint_files(list(plain_files(paths, shown_from)), options or LintOptions(), {}, around)


def test_a_folder_means_the_sql_below_it(root):
    found = [file.path for file in plain_files([root], root)]
    assert found == ["a.sql", "binary.sql", "empty.sql", "select.sql", "sub/c.sql", "utf16.sql"]


def test_a_file_means_itself_once_and_yaml_means_nothing(root):
    paths = [root / "a.sql", root / "w.yml", root, root / "a.sql"]
    assert [file.path for file in plain_files(paths, root)].count("a.sql") == 1
    assert not list(plain_files([root / "w.yml"], root))


@pytest.mark.parametrize(
    ("path", "shown"), [("sub/../a.sql", "a.sql"), ("../{name}/a.sql", "a.sql"), ("link.sql", "link.sql")]
)
def test_files_are_shown_as_they_are_named(root, path, shown):
    (root / "link.sql").symlink_to(root / "a.sql")
    (file,) = plain_files([root / path.format(name=root.name)], root)
    assert file.path == shown


def test_a_file_elsewhere_is_shown_whole(root):
    (file,) = plain_files([root / "a.sql"], root / "sub")
    assert file.path == (root / "a.sql").as_posix()


def test_every_path_that_is_missing_is_told(root):
    with pytest.raises(ProblemsError) as caught:
        list(plain_files([root / "x.sql", root / "a.sql", root / "y"], root))
    assert [problem.code for problem in caught.value.problems] == ["no-such-file"] * 2


def test_merges_have_verdicts_others_are_counted_and_what_cannot_be_read_is_told(root):
    report = lint([root], root)
    assert [merge.path for merge in report.merges] == ["a.sql", "sub/c.sql"]
    assert report.files == 6
    unread = {finding.place.path: finding.message for finding in report.findings if finding.code == "C010"}
    assert unread.keys() == {"binary.sql", "utf16.sql"}
    assert all("not UTF-8" in message for message in unread.values())


def test_nothing_is_known_of_a_plain_target(root):
    (merge,) = lint([root / "a.sql"], root).merges
    assert (merge.model, merge.format, merge.target) == (None, None, "t")


def test_a_baseline_beside_the_files_hides(root):
    report = lint([root / "a.sql"], root)
    assert report.findings
    Baseline.of(report.findings).write(root / "lint-baseline.json")
    hidden = lint([root / "a.sql"], root)
    assert (hidden.findings, hidden.hidden) == ((), len(report.findings))
    shown = lint([root / "a.sql"], root, LintOptions(use_baseline=False))
    assert shown.findings == report.findings


def test_settings_and_macros_of_a_project_count(root):
    macros = [SourceText("macros/m.sql", "{% macro joined() %}t.id = s.id{% endmacro %}")]
    (root / "a.sql").write_text(MERGE.replace("t.id = s.id", "{{ joined() }}"))
    report = lint([root / "a.sql"], root, macros=macros, settings=LintSettings(ignore=("P001",)))
    assert [conjunct.text for conjunct in report.merges[0].conjuncts] == ["t.id = s.id"]
    assert "P001" not in {finding.code for finding in report.findings}


@pytest.fixture
def dbt(tmp_path):
    """A dbt project that has run."""
    root = tmp_path / "jaffle"
    shutil.copytree(DBT, root / "target")
    (root / "models").mkdir()
    (root / "models/orders.sql").write_text("{{ config(materialized='incremental') }} {{ some_macro() }}")
    (root / "dbt_project.yml").write_text("name: jaffle\n")
    return root


def test_a_dbt_project_means_its_models(dbt):
    report = lint([dbt], dbt)
    formats = {merge.path: merge.format for merge in report.merges}
    assert formats["models/orders.sql"] == "delta"
    assert all(path.startswith("models/") for path in formats)


def c001(root):
    found = lint([root / "target/run"], root).findings
    return [finding.message for finding in found if finding.code == "C001"]


@pytest.mark.parametrize(("predicate", "found"), [("dt >= '2024-06-01'", True), ("dt > '2023-12-31'", False)])
def test_the_query_of_a_dbt_model_is_held_against_its_incremental_predicates(dbt, predicate, found):
    file = dbt / "target/run/shop/models/orders.sql"
    file.write_text(file.read_text().replace("on ", f"on DBT_INTERNAL_DEST.{predicate} and ", 1))
    assert [f"DBT_INTERNAL_DEST.{predicate}" in message for message in c001(dbt)] == [True] * found
    (dbt / "target/compiled/shop/models/orders.sql").unlink()
    assert c001(dbt) == []


def test_a_dbt_project_that_has_not_run_is_told(dbt):
    shutil.rmtree(dbt / "target")
    with pytest.raises(ProblemsError, match=r"is a dbt project without target/manifest\.json[^§]*dbt parse"):
        lint([dbt], dbt)


def test_without_a_manifest_nothing_is_known_of_the_tables(dbt):
    (dbt / "target/manifest.json").unlink()
    (merge,) = lint([dbt / "target/run"], dbt).merges
    assert merge.format is None


@pytest.mark.parametrize("text", ["", "{", "[]", json.dumps({"nodes": 1})])
def test_a_broken_manifest_is_told(dbt, text):
    (dbt / "target/manifest.json").write_text(text)
    with pytest.raises(ProblemsError, match="manifest"):
        lint([dbt / "target/run"], dbt)
