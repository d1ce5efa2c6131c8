"""The page of runs on the command line: what a build leaves, `report`, summaries in CI."""

import json
import re

import pytest

from merge_runner.cli.host import Host
from merge_runner.cli.main import main
from tests.fake_engine import FakeDriver, Lake, Starts
from tests.fake_engine.projects import model_files

MODELS = {"a": {"tests": ["not_null"]}, "b": {"parents": ["a"]}}


@pytest.fixture
def root(make_project):
    return make_project(model_files(MODELS))


@pytest.fixture
def build(root, capfd):
    """Build the project on the fake engine; return the exit status and standard error."""
    lake = Lake()

    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            main(["build", "--no-lint", *arguments, "--project-dir", str(root)], Host(start=Starts(FakeDriver(lake))))
        return end.value.code, capfd.readouterr().err

    return run


def data(path):
    return json.loads(re.search(r'id="data">(.*?)</script>', path.read_text(), re.DOTALL)[1])


def test_a_build_names_its_page_in_one_line(build, root):
    status, shown = build()
    page = root / "target" / "run_report.html"
    assert status == 0
    assert [line for line in shown.splitlines() if "page" in line] == [f"page of the run: {page}"]
    assert shown.splitlines()[-1] == "2 success, 1 pass"
    assert [run["counts"] for run in data(page)["runs"]] == [{"success": 2, "pass": 1}]


def test_the_page_has_all_kept_runs_and_may_be_written_elsewhere(build, root, tmp_path):
    build()
    build("--report", str(tmp_path / "given" / "page.html"))
    assert len(data(tmp_path / "given" / "page.html")["runs"]) == 2
    assert data(tmp_path / "given" / "page.html") == data(root / "target" / "run_report.html")


def test_the_record_says_what_waited_for_what(build, root):
    build()
    from merge_runner.pages.runs.history import kept_runs

    nodes = {node["name"]: node for node in next(kept_runs(root / "target")).record["nodes"]}
    assert (nodes["b"]["after"], nodes["b"]["by"]) == (
        next(node["id"] for name, node in nodes.items() if "not_null" in name),
        "dependency",
    )
    assert nodes["b"]["ready"] <= nodes["b"]["start"] <= nodes["b"]["end"]
    assert nodes["a"]["response"]["operation"] == "MERGE"


def test_report_writes_the_page_and_a_summary(build, root, call):
    build()
    (root / "target" / "run_report.html").unlink()
    ended = call("report", cwd=root)
    assert (ended.returncode, ended.stdout) == (0, f"{root / 'target' / 'run_report.html'}\n")
    ended = call("report", "--output", "markdown", cwd=root)
    assert ended.stdout.startswith("### ✅ merge-runner build of ")


def test_report_without_a_run_says_what_to_do(call, root):
    ended = call("report", cwd=root)
    assert ended.returncode == 2
    assert "no run is kept" in ended.stderr and "merge-runner build" in ended.stderr


def test_clean_keeps_the_records_where_it_is_asked_to(build, root, call):
    build()
    assert call("clean", "--keep-runs", cwd=root).returncode == 0
    assert [path.name for path in (root / "target").iterdir()] == ["runs"]
    assert call("report", cwd=root).returncode == 0
    call("clean", cwd=root)
    assert not (root / "target").exists()


def test_a_job_of_github_gets_summaries(build, root, call, tmp_path, monkeypatch):
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    build()
    call("lint", cwd=root)
    headings = [line for line in summary.read_text().splitlines() if line.startswith("### ")]
    assert [heading.split(" ")[2:4] for heading in headings] == [["merge-runner", "build"], ["merge-runner", "lint:"]]


def test_a_page_that_cannot_be_written_fails_no_build(build, root):
    (root / "target").mkdir()
    (root / "target" / "runs").write_text("a file")
    status, shown = build()
    assert status == 0
    assert "the run has no page" in shown


def test_the_page_of_the_project_shows_the_last_results(build, root, call):
    build()
    call("docs", "generate", "--static", cwd=root)
    nodes = {node["name"]: node for node in data(root / "target" / "docs.html")["nodes"]}
    assert nodes["a"]["status"] == "success" and nodes["a"]["seconds"] >= 0
    assert [node["status"] for name, node in nodes.items() if "not_null" in name] == ["pass"]
