"""The templates in examples/ci: every command of merge-runner in them is one that exists, with its options."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import botocore.session
import pytest
import yaml

from tests.docs.command_lines import CommandLine, commands
from tests.docs.test_command_lines import parsed

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples/ci"
TEMPLATES = sorted(path for path in FOLDER.rglob("*") if path.suffix in (".yml", ".yaml", ".json"))
ARGUMENTS = {"parameters", "entryPointArguments"}
"""Keys whose lists are what `run.py` is called with."""
RUNNER = "run.py"
"""The program in a list of words of spark-submit."""
OPERATIONS = {"emr-serverless": ("emr-serverless", "StartJobRun"), "emr-eks": ("emr-containers", "StartJobRun")}


def read(path):
    """Return what a template holds; of YAML, a list of its documents."""
    text = path.read_text(encoding="utf-8")
    return json.loads(text) if path.suffix == ".json" else list(yaml.safe_load_all(text))


def lines(path, value, key=None) -> Iterator[CommandLine]:
    """Yield the command lines in a value of a template."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from lines(path, each, name)
    elif isinstance(value, list) and key in ARGUMENTS:
        yield CommandLine(path, 1, tuple(value), marked=False, whole=True)
    elif isinstance(value, list):
        programs = [number for number, word in enumerate(value) if str(word).endswith(f"/{RUNNER}")]
        if programs:
            yield CommandLine(path, 1, tuple(value[programs[0] + 1 :]), marked=False, whole=True)
        for each in value:
            yield from lines(path, each)
    elif isinstance(value, str):
        for line in value.splitlines():
            for words in commands(line.strip()):
                if words[:1] == ["merge-runner"]:
                    yield CommandLine(path, 1, tuple(words[1:]), marked=False, whole=True)


LINES = [line for path in TEMPLATES for line in lines(path, read(path))]


@pytest.mark.parametrize("line", LINES, ids=str)
def test_the_commands_of_a_template_exist(line):
    assert parsed(line)


def test_every_template_has_a_command_and_is_described():
    assert {line.page for line in LINES} == set(TEMPLATES)
    assert len(LINES) >= len(TEMPLATES) >= 8
    page = (ROOT / "docs/guides/ci-templates.md").read_text(encoding="utf-8")
    assert [path.name for path in TEMPLATES if path.relative_to(FOLDER).as_posix() not in page] == []


@pytest.mark.parametrize("folder", OPERATIONS)
def test_a_job_of_emr_is_what_its_service_takes(folder):
    service, operation = OPERATIONS[folder]
    model = botocore.session.get_session().get_service_model(service).operation_model(operation)
    given = {"clientToken": "token", **read(FOLDER / folder / "start-job-run.json")}
    report = botocore.validate.ParamValidator().validate(given, model.input_shape)
    assert not report.has_errors(), report.generate_report()
