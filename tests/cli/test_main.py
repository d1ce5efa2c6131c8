"""The command line: what it imports, its help, exit statuses, and how bad input is told."""

import json
import re

import click
import pytest
from click.testing import CliRunner

from merge_runner.cli.main import cli

STAGING = "select 1 as id, 'a' as name"
MERGE = "merge into {{ this }} t using {{ ref('stg') }} s on t.id = s.id when not matched then insert *"


def test_help_names_every_command(call):
    process = call("--help")
    assert process.returncode == 0
    listed = process.stdout.partition("Commands:")[2].partition("More:")[0]
    commands = {line.split()[0] for line in listed.splitlines() if line.strip()}
    assert commands == {
        *(
            "build",
            "clean",
            "clone",
            "compile",
            "completion",
            "debug",
            "deps",
            "diff",
            "docs",
            "eject",
            "explain",
            "help",
            "import",
            "init",
            "lineage",
            "lint",
            "ls",
            "lsp",
            "mcp",
            "optimize",
            "parse",
            "post-comment",
            "publish",
            "report",
            "retry",
            "rule",
            "run",
            "run-operation",
            "schema",
            "seed",
            "show",
            "source",
            "stream",
            "test",
            "warm",
        )
    }


def test_an_unknown_command_names_the_nearest(process):
    ended = process("biuld")
    assert ended.returncode == 2
    assert 'did you mean "build"?' in ended.stderr


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("SNAPSHOT", "MERGE model"),
        ("snapshot", "MERGE model"),
        ("run_operation", 'did you mean "run-operation"'),
        ("freshness", "source freshness"),
        ("source-freshness", "source freshness"),
        ("LS", 'did you mean "ls"?'),
        ("dbt", "there is no command 'dbt': write the command alone, as in `merge-runner run`"),
        ("deploy", "there is no command 'deploy'."),
    ],
)
def test_a_command_of_dbt_says_what_to_use(word, message):
    process = CliRunner().invoke(cli, [word])
    assert (process.exit_code, process.stdout) == (2, "")
    assert message in process.stderr
    assert "clean" not in process.stderr
    assert CliRunner().invoke(cli, ["help", word]).stderr.splitlines()[-1] == process.stderr.splitlines()[-1]


def test_help_is_an_option_and_a_command():
    def out(*arguments):
        return CliRunner().invoke(cli, arguments, prog_name="merge-runner").stdout

    assert out("help") == out("--help") == out("-h")
    assert out("help", "ls") == out("ls", "-h")
    assert out("help", "list") == out("list", "-h")
    assert out("-V") == out("--version")
    assert out("-V").startswith("merge-runner ")


@pytest.mark.parametrize("columns", [60, 80, 100, 140])
def test_help_is_as_wide_as_the_terminal_and_breaks_no_word(columns):
    context = click.Context(cli)
    texts = []
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        with command.context_class(command, info_name=name, terminal_width=columns, max_content_width=160) as inner:
            texts.append(command.get_help(inner))
    lines = [line for text in texts for line in text.splitlines()]
    alone = [line for line in lines if len(line.split()) == 1 or "[" in line]  # the forms of an option are not wrapped
    assert columns - 20 <= max(len(line) for line in lines if line not in alone) <= columns
    assert [line for line in lines if line.endswith("-")] == []


def test_outside_a_project_the_error_says_what_to_do(call):
    process = call("ls")
    assert process.returncode == 2
    assert "merge-runner init" in process.stderr
    assert "Traceback" not in process.stderr


def test_ls_gives_names_paths_json_levels_and_dot(call, make_project):
    root = make_project({"models/stg.sql": STAGING, "models/sub/fct.sql": MERGE})
    assert call("ls", cwd=root).stdout == "stg\nfct\n"
    assert call("ls", "--output", "path", "-s", "fct", cwd=root).stdout == "models/sub/fct.sql\n"
    entry = json.loads(call("ls", "--output", "json", "-s", "fct", cwd=root).stdout)
    assert entry["unique_id"] == "model.shop.fct"
    assert entry["config"]["materialized"] == "merge"
    assert call("ls", "--output", "levels", cwd=root).stdout == "level 1: stg\nlevel 2: fct\n"
    assert '"model.shop.stg" -> "model.shop.fct"' in call("ls", "--output", "dot", cwd=root).stdout


def test_compile_writes_the_texts_and_prints_a_single_one(call, make_project):
    root = make_project({"models/stg.sql": STAGING, "models/fct.sql": MERGE})
    process = call("compile", "-s", "fct", cwd=root)
    assert process.returncode == 0
    assert process.stdout.startswith("merge into shop")
    assert (root / "target/compiled/shop/models/fct.sql").read_text() + "\n" == process.stdout
    manifest = json.loads((root / "target/manifest.json").read_text())
    assert manifest["nodes"]["model.shop.fct"]["compiled_code"] + "\n" == process.stdout


def test_explain_tells_levels_and_steps(call, make_project):
    root = make_project({"models/stg.sql": STAGING, "models/fct.sql": "{{ config(partition_by='id') }} " + MERGE})
    lines = call("explain", cwd=root).stdout.splitlines()
    assert lines[0] == "level 1: 1 side by side"
    assert lines[1] == "  stg (view)"
    assert "  fct (merge, insert-only, runtime)" in lines
    assert any("partitioned by id" in line for line in lines)
    document = json.loads(call("explain", "--output", "json", cwd=root).stdout)
    shop = re.search(r"schema: (\w+)", (root / "profiles.yml").read_text())[1]
    assert [step["step"] for step in document["levels"][1][0]["steps"]] == ["AttachInputs", "CreateTarget", "RunMerge"]
    plan = "one left anti join finds the new rows; appends only, rewrites nothing"
    assert f"    on delta: {plan}" in lines
    assert document["levels"][1][0]["engine_plan"] == {"find": None, "write": "left anti", "text": plan}
    assert document["levels"][0][0]["engine_plan"] is None
    assert document["levels"][1][0]["reads"] == {f"{shop}.fct": ["id"], f"{shop}.stg": ["id", "name"]}
    assert f"    reads {shop}.stg: id, name" in lines


def test_explain_on_spark_starts_none_where_there_is_nothing_to_merge(call, make_project):
    root = make_project({"models/stg.sql": STAGING})
    process = call("explain", "--spark", "--output", "json", cwd=root)
    assert (process.returncode, process.stderr) == (0, "")
    assert json.loads(process.stdout)["levels"][0][0]["spark_plan"] is None
    assert "spark_plan" not in call("explain", "--output", "json", cwd=root).stdout
    assert "--spark" in call("explain", "--help").stdout
    assert not (root / "target").exists()


def test_clean_removes_the_generated_files_and_nothing_outside_the_project(call, make_project, tmp_path):
    root = make_project({"models/stg.sql": STAGING})
    assert call("parse", cwd=root).returncode == 0
    assert (root / "target/manifest.json").exists()
    assert call("clean", cwd=root).returncode == 0
    assert not (root / "target").exists()
    outside = call("clean", "--target-path", str(tmp_path), cwd=root)
    assert outside.returncode == 2
    assert root.exists()


def test_init_makes_a_project_that_compiles_and_refuses_a_folder_in_use(call, tmp_path):
    assert call("init", "store").returncode == 0
    assert call("ls", cwd=tmp_path / "store").stdout.split() == [
        "order",
        "stg_order",
        "fct_order",
        *call("ls", "--resource-type", "test", cwd=tmp_path / "store").stdout.split(),
    ]
    assert call("compile", cwd=tmp_path / "store").returncode == 0
    again = call("init", "store")
    assert again.returncode == 2
    assert "not empty" in again.stderr


BAD = {
    "duplicate key": (
        {"models/m.yml": "models:\n  - name: stg\n    name: stg\n"},
        ["models/m.yml:3:5", "name"],
    ),
    "unknown key in YAML": (
        {"models/m.yml": "models:\n  - name: stg\n    colums: []\n"},
        ["models/m.yml:3:5", "colums", 'did you mean "columns"?'],
    ),
    "unknown config key": (
        {"models/stg.sql": "{{ config(\n  partiton_by='id') }}\nselect 1 as id"},
        ["models/stg.sql:2:3", "partiton_by", 'did you mean "partition_by"?'],
    ),
    "unknown setting": (
        {"pyproject.toml": '[tool.merge-runner]\nname = "shop"\nmodel-path = ["models"]\n'},
        ["pyproject.toml:3:1", "model-path", 'did you mean "model-paths"?'],
    ),
    "two models of one name": (
        {"models/a/stg.sql": "select 2 as id"},
        ["models/a/stg.sql", "models/stg.sql", "stg"],
    ),
    "a ref to nothing": (
        {"models/fct.sql": "select *\nfrom {{ ref('stgg') }}"},
        ["models/fct.sql:2:9", 'there is no model or seed "stgg"', 'did you mean "stg"?'],
    ),
    "a source that is not declared": (
        {"models/fct.sql": "select * from {{ source('raw', 'x') }}"},
        ["models/fct.sql:1:18", 'there is no source table "raw.x"'],
    ),
    "a cycle": (
        {"models/a.sql": "select * from {{ ref('b') }}", "models/b.sql": "select * from {{ ref('a') }}"},
        ["a -> b -> a"],
    ),
    "a missing environment variable": (
        {"profiles.yml": "shop: {outputs: {dev: {schema: \"{{ env_var('NO_SUCH_VARIABLE') }}\"}}}\n"},
        ["profiles.yml:1:", "NO_SUCH_VARIABLE"],
    ),
    "a broken Jinja block": (
        {"models/fct.sql": "select 1\n{% if x %}\n"},
        ["models/fct.sql:2:"],
    ),
    "an undefined name": (
        {"models/fct.sql": "{% if true %}\nselect {{ nmae }}\n{% endif %}"},
        ["models/fct.sql:2:11", "nmae"],
    ),
    "an undefined var": (
        {"models/fct.sql": "select {{ var('frm') }} as x"},
        ["models/fct.sql:1:11", "frm"],
    ),
    "a MERGE that Spark would not parse": (
        {"models/fct.sql": "merge into {{ this }} t\nusing {{ ref('stg') }} s on t.id = s.id\nwhen matched insert *"},
        ["models/fct.sql:3:1", "THEN"],
    ),
    "a MERGE into another table": (
        {"models/fct.sql": "merge into elsewhere t using {{ ref('stg') }} s on t.id = s.id when matched then delete"},
        ["models/fct.sql:1:12", "{{ this }}"],
    ),
    "broken YAML": ({"models/m.yml": "models: [\n"}, ["models/m.yml:2:1"]),
    "broken TOML": ({"pyproject.toml": "[tool.merge-runner\n"}, ["pyproject.toml:1"]),
    "an unknown data test": (
        {"models/m.yml": "models:\n  - name: stg\n    columns:\n      - {name: id, data_tests: [not_nul]}\n"},
        ["models/m.yml:4:", "not_nul", 'did you mean "not_null"?'],
    ),
    "an unknown target": ({}, ["prd", "dev"]),
}


FOUND_BY_LINT = {"an undefined var", "a MERGE that Spark would not parse", "a MERGE into another table"}
"""Errors of lint, which comes first, and not of the command: its status is 1."""


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_told_with_its_place_and_nothing_runs(call, make_project, case):
    files, expected = BAD[case]
    root = make_project({"models/stg.sql": STAGING, **files})
    arguments = ["-t", "prd"] if case == "an unknown target" else []
    process = call("build", *arguments, cwd=root)
    assert process.returncode == (1 if case in FOUND_BY_LINT else 2), process.stderr
    assert "Traceback" not in process.stderr
    assert [text for text in expected if text not in process.stderr] == [], process.stderr
    assert not (root / "target/journal.jsonl").exists()
    assert not (root / "warehouse").exists()


def test_a_file_that_is_not_utf8_and_one_that_cannot_be_read_are_told(call, make_project):
    root = make_project({"models/stg.sql": STAGING})
    (root / "models/latin.sql").write_bytes(b"select '\xe9' as x")
    (root / "models/loop.sql").symlink_to(root / "models/loop.sql")
    process = call("build", cwd=root)
    assert process.returncode == 2
    assert "models/latin.sql:1:9" in process.stderr
    assert "models/loop.sql" in process.stderr
    assert "Traceback" not in process.stderr


def test_all_problems_of_a_project_are_told_at_once(call, make_project):
    root = make_project(
        {
            "models/stg.sql": "{{ config(typo=1) }} select 1 as id",
            "models/a.sql": "select * from {{ ref('nowhere') }}",
            "models/m.yml": "models: [{name: stg, colums: []}]\n",
        }
    )
    stderr = call("ls", cwd=root).stderr
    assert [text for text in ("models/m.yml", "typo", "nowhere", "3 problems") if text not in stderr] == []


def test_what_follows_from_a_file_that_cannot_be_read_is_not_told(call, make_project):
    root = make_project(
        {
            "models/a.sql": "select * from {{ source('raw', 'x') }} join {{ ref('b') }} using ({{ key() }}) join {{ ref('r') }} using (id)",
            "models/m.yml": "sources: [\n",
            "profiles.yml": "shop: {outputs: {}}",
        }
    )
    (root / "models/b.sql").write_bytes(b"\xff")
    for path in ("macros/key.sql", "seeds/r.csv"):
        (root / path).parent.mkdir()
        (root / path).write_bytes(b"\xff")
    stderr = call("ls", cwd=root).stderr
    wanted = ["models/b.sql:1:1", "macros/key.sql:1:1", "seeds/r.csv:1:1", "models/m.yml:2:1", "profiles.yml:1:"]
    assert [text for text in (*wanted, "5 problems") if text not in stderr] == [], stderr


def test_messages_have_no_colour_off_a_terminal_unless_forced(call, make_project):
    root = make_project({"models/a.sql": "select * from {{ ref('nowhere') }}"})
    assert "\x1b[" not in call("ls", cwd=root).stderr
    assert "\x1b[31m" in call("ls", cwd=root, env={"FORCE_COLOR": "1"}).stderr
    assert "\x1b[" not in call("ls", cwd=root, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stderr
