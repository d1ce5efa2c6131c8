"""How the command line is used and misused: options, streams, exit statuses."""

import json
import subprocess
from pathlib import Path

import click
import pytest

from merge_runner.cli.main import cli

STAGING = "select 1 as id"
MERGE = "merge into {{ this }} t using {{ ref('stg') }} s on t.id = s.id when not matched then insert *"
MODELS = {"models/stg.sql": STAGING, "models/fct.sql": MERGE}


@pytest.mark.parametrize(
    ("arguments", "listed"),
    [
        (["-s", "stg", "fct"], ["stg", "fct"]),
        (["--select=stg", "fct", "--exclude", "fct", "other"], ["stg"]),
        (["-s", "stg fct", "-s", "fct"], ["stg", "fct"]),
        (["--resource-type", "model", "seed"], ["stg", "fct"]),
        (["--resource-type", "test"], []),
    ],
)
def test_an_option_takes_several_names_as_in_dbt(call, make_project, arguments, listed):
    assert call("ls", *arguments, cwd=make_project(MODELS)).stdout.split() == listed


def test_options_of_output_stand_before_the_command_or_behind_it(call, make_project):
    root = make_project(MODELS)
    for arguments in (["-q", "parse"], ["parse", "-q"]):
        assert call(*arguments, cwd=root).stderr == ""
    for arguments in (["--warn-error", "ls", "-s", "none"], ["ls", "-s", "none", "--warn-error"]):
        assert call(*arguments, cwd=root).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["ls", "-s", "none"], "nothing-selected"),
        (["ls", "-t", "prd"], "unknown-target"),
        (["ls", "--no-such-option"], "usage"),
    ],
)
def test_messages_are_json_on_request(call, make_project, arguments, code):
    stderr = call("--log-format", "json", *arguments, cwd=make_project(MODELS)).stderr
    entries = [json.loads(line) for line in stderr.splitlines()]
    assert [(entry["event"], entry["code"]) for entry in entries] == [("problem", code)]


def test_a_run_begins_without_what_another_has_set(call, make_project):
    root = make_project({**MODELS, "models/bad.sql": "select * from {{ ref('nowhere') }}"})
    alone = call("ls", cwd=root)
    call("ls", "--log-format", "json", "--debug", "--no-use-colors", cwd=root)
    assert call("ls", cwd=root) == alone
    coloured = call("ls", cwd=root, env={"FORCE_COLOR": "1"}).stderr
    assert "\x1b[31m" in coloured


def test_a_command_keeps_its_short_help_option_where_others_have_read_its_declaration(call):
    from tools.docgen.command_page import command_line

    assert "`merge-runner ls`" in command_line()
    assert call("ls", "-h").stdout.startswith("Usage: merge-runner ls ")


def test_a_problem_in_json_names_its_place(call, make_project):
    root = make_project({"models/a.sql": "select *\nfrom {{ ref('nowhere') }}"})
    entry = json.loads(call("ls", "--log-format", "json", cwd=root).stderr)
    assert (entry["path"], entry["line"], entry["column"], entry["level"]) == ("models/a.sql", 2, 9, "error")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ls", "--project-dir", "models"], "is not a merge-runner project"),
        (["ls", "--project-dir", "nowhere"], "there is no folder"),
        (["parse", "--target-path", ""], "the project's own folder"),
        (["parse", "--target-path", ".."], "the project's own folder or one above it"),
        (["ls", "--resource-type", "modle"], "'model'"),
        (["ls", "--vars", "[1]"], "must be a mapping"),
        (["init", "/dev/null/shop"], "/dev/null"),
        (["run", "--no-lint"], "`run` has no option --no-lint: only `build` lints first"),
        (["build", "--resource-type", "model"], "`build` has no option --resource-type: write -s resource_type:model"),
        (["compile", "--inline", "select 1"], "`compile` has no option --inline: use `merge-runner show --inline`"),
        (["build", "--warn-error-options", "{}"], "no option --warn-error-options: use --warn-error"),
    ],
)
def test_misuse_is_told_and_nothing_is_written(call, make_project, arguments, message):
    root = make_project(MODELS)
    before = sorted(root.rglob("*"))
    process = call(*arguments, cwd=root)
    assert process.returncode == 2
    assert message in process.stderr
    assert "Traceback" not in process.stderr
    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize("files", [{"target": "a file"}, {"target/manifest.json/x": "a folder"}])
def test_a_target_folder_that_cannot_be_written_is_told(call, make_project, files):
    process = call("parse", cwd=make_project({**MODELS, **files}))
    assert process.returncode == 2
    assert "target" in process.stderr
    assert "Traceback" not in process.stderr


def test_a_reader_that_goes_away_is_no_error(process, make_project):
    root = make_project(MODELS)
    with subprocess.Popen(["true"], stdin=subprocess.PIPE) as reader:
        reader.wait()
        ended = process("ls", cwd=root, stdout=reader.stdin, stderr=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_a_full_disk_is_told(process, make_project):
    with Path("/dev/full").open("w") as full:
        ended = process("ls", cwd=make_project(MODELS), stdout=full, stderr=subprocess.PIPE)
    assert ended.returncode == 2
    assert "No space left" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_what_templates_log_goes_to_standard_error(call, make_project):
    root = make_project({"models/m.sql": "{{ log('hello', info=true) }}{{ log('aside') }}select 1"})
    process = call("compile", "-s", "m", cwd=root)
    assert process.stdout == "select 1\n"
    assert "hello" in process.stderr
    assert "aside" not in process.stderr
    assert "hello" not in call("compile", "-q", cwd=root).stderr
    assert "models/m.sql:1:33: aside" in call("compile", "-d", cwd=root).stderr


def test_a_password_in_the_address_of_a_server_is_not_shown(call, make_project):
    profiles = "shop: {outputs: {dev: {schema: shop, remote: 'sc://me:hunter2@spark:15002/;token=hunter3'}}}"
    root = make_project({**MODELS, "profiles.yml": profiles})
    process = call("debug", cwd=root)
    assert "sc://spark:15002" in process.stdout
    assert (
        "low_shuffle in 0, storage_join in 0; on Delta low_shuffle sets delta.enableDeletionVectors" in process.stdout
    )
    assert "hunter" not in process.stdout + process.stderr
    assert all("hunter" not in file.read_text() for file in root.glob("target/**/*") if file.is_file())


def test_job_specs_are_in_the_guide(call, tmp_path):
    process = call("debug", "--cluster", cwd=tmp_path)
    assert (process.returncode, process.stdout) == (2, "")
    assert "--cluster is gone" in process.stderr
    assert "docs/guides/run-on-a-cluster.md" in process.stderr
    assert (Path(__file__).parents[2] / "docs/guides/run-on-a-cluster.md").is_file()


def test_a_build_writes_the_class_data_archive(call, tmp_path):
    process = call("deps", "--archive", cwd=tmp_path)
    assert (process.returncode, process.stdout) == (2, "")
    assert "--archive is gone" in process.stderr
    assert "MERGE_RUNNER_CDS=1" in process.stderr


def test_defer_reads_what_is_not_built_from_the_state(call, make_project, tmp_path):
    profiles = "shop: {target: dev, outputs: {dev: {schema: dev}, prod: {schema: prod}}}"
    root = make_project({**MODELS, "profiles.yml": profiles})
    assert call("parse", "-t", "prod", "--target-path", str(tmp_path / "prod"), cwd=root).returncode == 0
    state = ["--state", str(tmp_path / "prod")]
    for command, expected in ((["compile"], "using prod.stg s"), (["explain"], "attach prod.stg")):
        assert expected in call(*command, "-s", "fct", "--defer", *state, cwd=root).stdout
        assert "prod.stg" not in call(*command, "-s", "fct", *state, cwd=root).stdout
    assert "--state" in call("build", "--defer", cwd=root).stderr
    other = call(
        "compile", "-s", "fct", "--defer", "--defer-state", state[1], "--state", str(root / "models"), cwd=root
    )
    assert "using prod.stg s" in other.stdout
    nothing = call("build", "--defer", "--state", str(root / "models"), cwd=root)
    assert (nothing.returncode, "manifest.json" in nothing.stderr) == (2, True)


@pytest.mark.parametrize("command", ["build", "run", "retry"])
@pytest.mark.parametrize("value", ["-1", "x", "1.5", "9223372036854775808", ""])
def test_a_batch_id_that_is_no_whole_number_is_a_usage_error(call, make_project, command, value):
    process = call(command, f"--batch-id={value}", cwd=make_project(MODELS))
    assert process.returncode == 2
    assert "--batch-id" in process.stderr
    assert "Traceback" not in process.stderr


@pytest.mark.parametrize("name", ["main", "a b", ""])
@pytest.mark.parametrize("command", [["build", "--branch"], ["test", "--branch"], ["retry", "--branch"], ["publish"]])
def test_a_branch_that_cannot_be_written_is_a_usage_error(call, make_project, command, name):
    process = call(*command, name, cwd=make_project(MODELS))
    assert process.returncode == 2
    assert "branch" in process.stderr
    assert "Traceback" not in process.stderr


def test_a_build_on_a_branch_refuses_tables_without_branches(call, make_project):
    root = make_project(MODELS)
    process = call("build", "--no-lint", "--branch", "ci", cwd=root)
    assert process.returncode == 2
    assert "models/fct.sql:1:1: error: fct writes a delta table, which has no branches" in process.stderr
    assert "format: iceberg" in process.stderr
    process = call("publish", "ci", cwd=root)
    assert (process.returncode, "[no-branch]" in process.stderr) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--retain", "14d"], "--retain needs --vacuum"),
        (["--vacuum", "--retain", "soon"], "'soon' is not a number of seconds above 0"),
        (["--vacuum", "--retain", "0"], "'0' is not a number of seconds above 0"),
        (["--batch-id", "3"], "No such option"),
    ],
)
def test_a_misused_optimize_is_a_usage_error(call, make_project, arguments, message):
    process = call("optimize", *arguments, cwd=make_project(MODELS))
    assert process.returncode == 2
    assert message in process.stderr
    assert "Traceback" not in process.stderr


def test_retry_says_what_to_do_where_nothing_has_run(call, make_project):
    process = call("retry", cwd=make_project(MODELS))
    assert process.returncode == 2
    assert "run_results.json: nothing has been run yet [no-run-results]" in process.stderr
    assert "merge-runner build" in process.stderr


def test_retry_of_nothing_says_so_and_is_well(call, make_project):
    root = make_project(MODELS)
    (root / "elsewhere").mkdir()
    document = {
        "metadata": {"invocation_id": "i"},
        "args": {"which": "run"},
        "results": [
            {"unique_id": "model.shop.stg", "status": "success"},
            {"unique_id": "model.shop.old", "status": "error"},
        ],
    }
    (root / "elsewhere/run_results.json").write_text(json.dumps(document))
    process = call("retry", "--target-path", "elsewhere", cwd=root)
    assert process.returncode == 0
    assert "model.shop.old is not in the project any more" in process.stderr
    assert "nothing to retry of the last run" in process.stderr


UNIT_TESTED = {
    **MODELS,
    "models/all.yml": """
    models: [{name: fct, columns: [{name: id, data_type: int, data_tests: [unique]}]}]
    unit_tests:
      - name: a_new_row_is_inserted
        model: fct
        given: [{input: this, rows: []}, {input: "ref('stg')", rows: [{id: 1}]}]
        expect: {rows: [{id: 1}]}
    """,
}


def test_explain_counts_unit_tests_with_the_tests(call, make_project):
    root = make_project(UNIT_TESTED)
    process = call("explain", cwd=root)
    assert (process.returncode, process.stderr) == (0, "")
    assert [line for line in process.stdout.splitlines() if line.startswith("level")] == [
        "level 1: 1 side by side, 1 test",
        "level 2: 1 side by side",
        "level 3: 1 test",
    ]
    levels = json.loads(call("explain", "--output", "json", cwd=root).stdout)["levels"]
    assert [sorted(node["kind"] for node in level) for level in levels] == [["unit_test", "view"], ["merge"], ["test"]]


def test_optimize_of_nothing_does_nothing(call, make_project):
    process = call("optimize", "-s", "none", cwd=make_project(MODELS))
    assert (process.returncode, process.stderr.splitlines()[-1]) == (0, "nothing to do")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "-s", "colours"], "`run` runs none of the selected nodes: 1 seed|`merge-runner seed` loads seeds"),
        (["run", "-s", "resource_type:seed"], "1 seed|`merge-runner seed` loads seeds"),
        (
            ["run", "-s", "resource_type:test resource_type:unit_test"],
            "1 test, 1 unit test|`merge-runner test` runs unit tests",
        ),
        (["run", "-s", "source:raw"], "1 source|`source:NAME+` selects what reads it"),
        (["test", "-s", "stg"], "`test` runs none of the selected nodes: 1 model|`merge-runner build`"),
        (["optimize", "-s", "resource_type:test"], "1 test|`merge-runner test`"),
        (["seed", "-s", "stg"], "`seed` runs none of the selected nodes: 1 model|`merge-runner build`"),
    ],
)
def test_a_command_that_runs_nothing_of_a_selection_says_which_one_does(call, make_project, arguments, message):
    source = "sources: [{name: raw, tables: [{name: r}]}]"
    root = make_project({**UNIT_TESTED, "models/sources.yml": source, "seeds/colours.csv": "id\n1\n"})
    process = call(*arguments, cwd=root)
    assert process.returncode == 0
    assert all(part in process.stderr for part in message.split("|")), process.stderr
    assert process.stderr.splitlines()[-1] == "nothing to do"


REFRESHES = ["build", "clone", "compile", "explain", "lint", "retry", "run"]


def test_a_command_has_the_options_that_it_uses_alone():
    commands = {name: cli.get_command(click.Context(cli), name) for name in cli.list_commands(click.Context(cli))}
    shown = {
        name: {param.name for param in each.params if not getattr(param, "hidden", False)}
        for name, each in commands.items()
    }
    assert [name for name in shown if "full_refresh" in shown[name]] == REFRESHES
    assert shown["clean"] == {
        "project_dir",
        "target_path",
        "log_format",
        "quiet",
        "debug",
        "no_use_colors",
        "keep_runs",
    }
    # The options of output are accepted by every command, as dbt's global flags are.
    assert all({"warn_error", "quiet"} <= {param.name for param in each.params} for each in commands.values())


def test_parse_reports_what_is_wrong_in_unit_tests(call, make_project):
    tests = """\
version: 2
unit_tests:
  - name: one
    model: fct
    given: [{input: this, rows: []}, {input: ref('stg'), rows: [{id: 1}]}]
    expect: {rows: [{idd: 1}]}
  - name: two
    model: fct
    given: [{input: this, rows: []}, {input: ref('stgg'), rows: []}, {input: ref('stg'), rows: []}]
    expect: {rows: []}
"""
    process = call("parse", cwd=make_project({**MODELS, "models/m.yml": tests}))
    assert process.returncode == 2
    assert (
        'models/m.yml:6:22: error: unit test one: the rows of expect: the table has no column "idd"' in process.stderr
    )
    assert "models/m.yml:9:46: error: unit test two: gives rows of ref('stgg')" in process.stderr
