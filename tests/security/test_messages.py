"""No text of a project that is not trusted reaches a terminal or the log of a job as a command."""

import re

import pytest

from merge_runner.columns import printable
from tests.cli.conftest import call  # noqa: F401 - a fixture
from tests.written_project import write_files

ATTACKS = {
    "command": "a\n::stop-commands::t",
    "indented": "a\n \t::add-mask::x",
    "nbsp": "a\n\u00a0::warning::x",
    "return": "a\r::error::x",
    "line separator": "a\u2028::error::x",
    "first": "::set-output name=a::b",
    "after an escape": "a\n\x1b[0m::error::x",
    "azure": "a ##[error]x ##vso[task.setvariable variable=a]b",
    "colour": "a\x1b[31mred",
    "title": "a\x1b]0;title\x07",
    "c1": "a\x9b2Jb",
    "bidi": "a\u202eb\u2066c\u200fd\u061ce",
}
_BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def commands_in(text, ours=()):
    """Return the lines that a runner would execute, and the characters that a terminal must not get."""
    lines = [line for line in text.split("\n") if line.strip().startswith("::") and not line.startswith(ours)]
    old = [line for line in text.split("\n") if "##[" in line or "##vso[" in line]
    return [*lines, *old, *_BAD.findall(text)]


def quoted(text):
    """Write a text as a literal of Jinja."""
    return "'" + "".join(f"\\u{ord(char):04x}" for char in text) + "'"


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("colours", [False, True])
def test_a_printable_text_is_no_command(attack, colours):
    shown = printable(ATTACKS[attack], colours=colours)
    assert commands_in(re.sub("\x1b\\[[0-9;]*m", "", shown) if colours else shown) == []


def project(root, attack, model):
    """Write a project that says an attack wherever a template can."""
    return write_files(
        root,
        {
            "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
            "profiles.yml": "shop: {outputs: {dev: {schema: dev}}}\n",
            "models/m.sql": model.replace("TEXT", quoted(attack)) + "\n",
        },
    )


USES = {
    "raise": "{{ exceptions.raise_compiler_error(TEXT) }}",
    "log": "{{ log(TEXT, info=true) }} SELECT 1 AS a",
    "print": "{{ print(TEXT) }} SELECT 1 AS a",
    "warn": "{{ exceptions.warn(TEXT) }} SELECT 1 AS a",
    "ref": "SELECT * FROM {{ ref(TEXT) }}",
    "source": "SELECT * FROM {{ source(TEXT, 't') }}",
    "config": "{{ config(tags=[TEXT], nonsense=TEXT, materialized=TEXT) }} SELECT 1 AS a",
    "var": "SELECT {{ var(TEXT) }} AS a",
    "alias": "{{ config(materialized='view', alias=TEXT) }} SELECT 1 AS a",
    "merge": "MERGE INTO {{ this }} t USING (SELECT 1 AS id) s ON t.{{ TEXT }} = s.id WHEN NOT MATCHED THEN INSERT *",
}
OUTPUTS = ["text", "concise", "github", "markdown", "json", "gitlab", "sarif", "junit"]
CALLS = [
    *(["lint", "--no-cache", "-v", "--format", output] for output in OUTPUTS),
    ["ls", "--output", "json"],
    ["compile"],
    ["explain"],
    ["lineage"],
    ["parse"],
    ["docs", "generate"],
    ["compile", "--log-format", "json"],
    ["compile", "--log-format", "dbt-json"],
]
OURS = ("::error ", "::warning ", "::notice ")


@pytest.mark.parametrize("arguments", CALLS, ids=" ".join)
@pytest.mark.parametrize("use", USES)
def test_no_command_says_one_of_a_project(tmp_path, call, arguments, use):  # noqa: F811
    root = project(tmp_path, "\n".join(ATTACKS.values()), USES[use])
    done = call(*arguments, cwd=root)
    ours = OURS if "github" in arguments else ()
    assert (commands_in(done.stdout, ours), commands_in(done.stderr)) == ([], [])
    assert "internal" not in done.stderr


NAMES = ["a\n::error::x", "a\x1b[31mb", "a\u202eb", "a\r::x", "::add-mask::x"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("arguments", CALLS, ids=" ".join)
def test_no_name_of_a_file_is_one(tmp_path, call, arguments, name):  # noqa: F811
    root = project(tmp_path, "", "SELECT 1 AS a")
    write_files(
        root, {f"models/{name}.sql": "SELECT 1 AS a, {{ x }}\n", f"models/{name}.yml": "models: [{name: q, no: 1}]\n"}
    )
    done = call(*arguments, cwd=root)
    ours = OURS if "github" in arguments else ()
    assert (commands_in(done.stdout, ours), commands_in(done.stderr)) == ([], [])
    assert "internal" not in done.stderr


@pytest.mark.parametrize("arguments", [["--sel\n::error::x"], ["ls", "-s", "a\n::error::x"], ["rule", "a\n::error::x"]])
def test_no_argument_is_one(tmp_path, call, arguments):  # noqa: F811
    done = call(*arguments, cwd=project(tmp_path, "", "SELECT 1 AS a"))
    assert (commands_in(done.stdout), commands_in(done.stderr)) == ([], [])
