"""The templates in examples/ci, held against the schemas of those who read them."""

import json
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.nightly
FOLDER = Path(__file__).parents[2] / "examples/ci"
PACKAGES = ("check-jsonschema==0.39.0", "kubernetes-validate==1.37.0", "databricks-bundles==1.22.1")
SCHEMAS = {
    "vendor.github-workflows": ("github/build.yml", "github/pull_request.yml"),
    "vendor.gitlab-ci": ("gitlab/.gitlab-ci.yml",),
}


@pytest.fixture(scope="module")
def python(client):
    return client(*PACKAGES)


def checked(*command):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_workflow_is_valid(python, schema):
    files = [FOLDER / name for name in SCHEMAS[schema]]
    status, said = checked(python, "-m", "check_jsonschema", "--builtin-schema", schema, *files)
    assert status == 0, said


def test_an_invalid_workflow_is_not(python, tmp_path):
    broken = tmp_path / "build.yml"
    text = (FOLDER / "github/build.yml").read_text()
    broken.write_text(text.replace("runs-on: ubuntu-latest", "runs_on: ubuntu-latest"))
    status, said = checked(python, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", broken)
    assert (status, "runs_on" in said) == (1, True)


def test_objects_of_kubernetes_and_the_job_of_a_bundle_are_valid(python, run_client):
    found = json.loads(run_client(python, "with_validators.py", FOLDER).splitlines()[-1])
    assert found == {
        "cronjob.yaml": ["CronJob", "ServiceAccount", "Role", "RoleBinding"],
        "lint-job.yaml": ["Job"],
        "broken": "refused",
        "shop": {"tasks": ["build"], "clusters": ["small"], "concurrent": 1},
    }
