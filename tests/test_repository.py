"""The workflows, Dependabot and templates of the repository name what there is."""

from __future__ import annotations

import json
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
RELEASE = read_yaml(GITHUB / "workflows" / "release.yml")
RELEASE_JOBS = RELEASE["jobs"]
RELEASE_STEPS = [step for job in RELEASE_JOBS.values() for step in job.get("steps", ())]
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


@pytest.mark.parametrize(
    "step", [step for step in STEPS + RELEASE_STEPS if "uses" in step], ids=lambda step: step["uses"]
)
def test_an_action_is_pinned(step):
    """Those of GitHub by their major version, those of others by their commit."""
    assert re.fullmatch(r"actions/[a-z-]+@v\d+|[a-z-]+/[a-z-]+@[0-9a-f]{40}", step["uses"])
    if step["uses"].startswith("actions/checkout@"):
        assert step["with"]["persist-credentials"] is False


def needed(name):
    """Return the jobs that have ended well before a job of the release begins."""
    needs = RELEASE_JOBS[name].get("needs", ())
    needs = [needs] if isinstance(needs, str) else needs
    return {*needs, *(job for need in needs for job in needed(need))}


def test_a_tag_alone_starts_a_release():
    assert RELEASE[True] == {"push": {"tags": ["v*"]}}  # YAML reads `on` as a truth value
    assert RELEASE["concurrency"] == {"group": "release"}


@pytest.mark.parametrize("name", ["pypi", "github", "pages"])
def test_nothing_is_published_before_the_notes_and_all_tests_are_there(name):
    assert {"notes", "ci"} <= needed(name)
    assert RELEASE_JOBS["ci"]["uses"] == "./.github/workflows/ci.yml"
    assert "workflow_call" in WORKFLOW[True]


def test_what_is_published_is_what_ci_has_built():
    uploads = [step["with"] for step in JOBS["package"]["steps"] if "upload-artifact" in step.get("uses", "")]
    assert [(upload["name"], upload["path"]) for upload in uploads] == [("dist", "dist")]
    first, *_, publish = RELEASE_JOBS["pypi"]["steps"]
    assert (first["uses"].split("@")[0], first["with"]) == (
        "actions/download-artifact",
        {"name": "dist", "path": "dist"},
    )
    assert publish["uses"].startswith("pypa/gh-action-pypi-publish@")
    assert "with" not in publish  # neither a token nor an end of its attestations


def test_a_job_of_the_release_may_do_what_it_is_for():
    assert RELEASE["permissions"] == {"contents": "read"}
    permissions = {name: job["permissions"] for name, job in RELEASE_JOBS.items() if "permissions" in job}
    assert permissions == {
        "sbom": {"contents": "read", "id-token": "write", "attestations": "write"},
        "pypi": {"id-token": "write"},
        "github": {"contents": "write"},
        "pages": {"pages": "write", "id-token": "write"},
    }
    assert "secrets." not in (GITHUB / "workflows" / "release.yml").read_text(encoding="utf-8")


@pytest.mark.parametrize("jobs", [JOBS, RELEASE_JOBS], ids=["ci", "release"])
def test_a_job_ends_by_itself(jobs):
    assert all("timeout-minutes" in job for job in jobs.values() if "steps" in job)


def test_no_script_has_text_of_an_event():
    """What a pull request or a tag names is a variable of the shell, and no part of its script."""
    assert [step["run"] for step in STEPS + RELEASE_STEPS if "${{ github." in step.get("run", "")] == []


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


@pytest.mark.parametrize("file", sorted((ROOT / "docker").glob("*.Dockerfile")), ids=lambda file: file.stem)
def test_an_image_is_built_in_ci_and_has_no_root(file):
    text = file.read_text(encoding="utf-8")
    assert re.findall(r"^USER (.*)$", text, re.MULTILINE) == ["1000:1000"]
    assert "useradd --create-home --uid 1000" in text
    assert any(f"docker build --file docker/{file.name} " in step.get("run", "") for step in JOBS["images"]["steps"])


def test_the_development_container_runs_targets_that_there_are():
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    command, *targets = container["postCreateCommand"].split()
    assert command == "make"
    assert {target.replace(".venv", "$(VENV)") for target in targets} <= set(re.findall(r"^(\S+):", MAKEFILE, re.M))


def test_ci_prints_the_slowest_tests():
    script = (ROOT / ".ci" / "run").read_text()
    assert "--durations=30" in script
    assert WORKFLOW["env"]["PYTEST_ADDOPTS"] == "--durations=30"
