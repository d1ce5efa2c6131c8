"""The workflow, Dependabot and templates of the repository name what there is."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest
import tomli

from tests.yaml_data import read_yaml

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOW = read_yaml(GITHUB / "workflows" / "ci.yml")
JOBS = WORKFLOW["jobs"]
STEPS = [step for job in JOBS.values() for step in job["steps"]]
MAKEFILE = (ROOT / "Makefile").read_text()


def test_the_workflow_runs_targets_that_there_are():
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    scripts = [step["run"] for step in STEPS if "run" in step]
    assert scripts
    assert {script.split()[1] for script in scripts if script.startswith("make ")} <= targets
    assert {"make check", "make test"} <= set(scripts)


def test_targets_are_phony_and_explained():
    phony = next(line for line in MAKEFILE.splitlines() if line.startswith(".PHONY")).split()[1:]
    assert set(phony) == set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))
    assert {"check", "test-fast", "test", "test-slow", "test-nightly"} <= set(
        re.findall(r"^# make ([a-z-]+)", MAKEFILE, re.MULTILINE)
    )


def test_the_workflow_has_the_versions_of_python_that_the_package_names():
    classifiers = tomli.loads((ROOT / "pyproject.toml").read_text())["project"]["classifiers"]
    named = [found[1] for each in classifiers if (found := re.fullmatch(r".*Python :: (\d+\.\d+)", each))]
    assert all(JOBS[job]["strategy"]["matrix"]["python"] == named for job in ("check", "test"))


@pytest.mark.parametrize(("job", "variable"), [("test-slow", "SCREENSHOTS"), ("test-nightly", "REPORTS")])
def test_what_tests_write_is_kept(job, variable):
    steps = JOBS[job]["steps"]
    (run,) = [step for step in steps if step.get("run") == f"make {job}"]
    (upload,) = [step for step in steps if step.get("uses", "").startswith("actions/upload-artifact@")]
    assert run["env"][variable].endswith(f"/{upload['with']['path']}")
    assert upload["if"] == "always()"


def test_the_workflow_may_only_read():
    assert WORKFLOW["permissions"] == {"contents": "read"}
    assert all("permissions" not in job for job in JOBS.values())
    assert WORKFLOW["concurrency"]["group"]


@pytest.mark.parametrize("step", [step for step in STEPS if "uses" in step], ids=lambda step: step["uses"])
def test_an_action_is_pinned_by_its_major_version(step):
    assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"])
    if step["uses"].startswith("actions/checkout@"):
        assert step["with"]["persist-credentials"] is False


def test_the_cache_is_the_folder_of_the_jars():
    cached = [step["with"] for step in STEPS if step.get("uses", "").startswith("actions/cache@")]
    assert {each["path"] for each in cached} == {"~/.cache/merge-runner"}  # cache_folder without variables
    assert all("jars.json" in each["key"] for each in cached)


def test_dependabot_knows_what_is_used():
    updates = read_yaml(GITHUB / "dependabot.yml")["updates"]
    assert {each["package-ecosystem"] for each in updates} == {"pip", "github-actions", "npm"}


@pytest.mark.parametrize("file", sorted((GITHUB / "ISSUE_TEMPLATE").glob("[!c]*.yml")), ids=lambda file: file.stem)
def test_an_issue_template(file):
    form = read_yaml(file)
    assert form["name"]
    assert form["description"]
    ids = [each["id"] for each in form["body"]]
    assert len(ids) == len(set(ids))
    assert all(each["type"] == "textarea" and each["attributes"]["label"] for each in form["body"])


def test_no_two_modules_of_spark_tests_create_one_schema():
    """All modules of a worker share the catalog of one driver; `make_project` numbers its schemas."""
    created = defaultdict(set)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if "mark.spark" not in text:
            continue
        names = re.findall(r"create (?:schema|namespace) (?:if not exists )?(?:\w+\.)?(?!if )([a-z]\w*)", text)
        for line in re.findall(r"^SCHEMA = .*", text, re.MULTILINE):
            names += re.findall(r': "(?:\w+\.)?(\w+)"', line)
        names += re.findall(r'Engines\(session, "(\w+)"', text)
        if "driver=driver" in text:
            names += re.findall(r"schema: ([a-z]\w*)", text)
        for name in names:
            created[name].add(path.name)
    assert {"facts", "mark_test", "judged", "lint_builders"} <= set(created)
    assert {name: paths for name, paths in created.items() if len(paths) > 1} == {}


def test_ci_prints_the_slowest_tests():
    script = (ROOT / ".ci" / "run").read_text()
    assert "--durations=30" in script
    assert WORKFLOW["env"]["PYTEST_ADDOPTS"] == "--durations=30"
