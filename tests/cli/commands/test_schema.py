"""`merge-runner schema`, and the copies that files of a new project name."""

from __future__ import annotations

import json
import re

import click
import pytest
from click.testing import CliRunner

from merge_runner.cli.commands.schema import command
from merge_runner.json_schemas import FOLDER, NAMES
from merge_runner.project.scaffold import scaffold


def run(*arguments):
    result = CliRunner().invoke(command, arguments, standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    assert result.return_value == 0
    return result.stdout


def test_without_a_name_the_schemas_are_listed():
    assert [line.split()[0] for line in run().splitlines()] == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_printed(name):
    assert json.loads(run(name))["title"].startswith("merge-runner: ")


def test_an_unknown_name_is_a_usage_error_with_the_names():
    with pytest.raises(
        click.BadParameter, match=r"'propertis' is not one of 'properties', 'selectors', .*'pyproject'"
    ) as end:
        run("propertis")
    assert end.value.exit_code == 2


def test_copies_are_written_into_the_project(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[tool.merge-runner]\nname = "shop"\n')
    assert run("--write", "--project-dir", str(tmp_path)).splitlines() == [
        str(tmp_path / FOLDER / f"{name}.json") for name in NAMES
    ]
    (tmp_path / FOLDER / "profiles.json").write_text("of an earlier version")
    run("profiles", "--write", "--project-dir", str(tmp_path))
    assert (tmp_path / FOLDER / "profiles.json").read_text() == run("profiles")


def test_the_files_of_a_new_project_name_schemas_that_are_there(tmp_path):
    written = scaffold(tmp_path / "shop")
    named = {}
    for file in written:
        if file.suffix in (".yml", ".toml"):
            first = file.read_text().splitlines()[0]
            found = re.fullmatch(r"(?:# yaml-language-server: \$schema=|#:schema )(\S+)", first)
            assert found is not None
            named[file.name] = (file.parent / found[1]).resolve()
    assert {name: path.stem for name, path in named.items()} == {
        "models.yml": "properties",
        "profiles.yml": "profiles",
        "pyproject.toml": "pyproject",
    }
    assert {path.resolve() for path in written if path.suffix == ".json"} == set(named.values())
