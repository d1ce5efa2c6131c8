"""Variables that stand for options, flags of dbt without effect, and what a caller that takes us for dbt reads."""

import json

import pytest

from merge_runner.cli.dbt_flags import accepted
from merge_runner.cli.environment import options_of
from merge_runner.cli.host import Host
from merge_runner.cli.main import main
from merge_runner.run.results.previous_run import last_invocation
from tests.fake_engine import FakeDriver, Lake, Starts
from tests.fake_engine.projects import model_files

MODELS = {"models/a.sql": "select 1 as id", "models/sub/b.sql": "select 1 as id"}
PROFILES = """
shop:
  target: dev
  outputs: {dev: {master: 'local[1]', schema: dev}, prod: {master: 'local[1]', schema: prod}}
other: {outputs: {dev: {master: 'local[1]', schema: other}}}
"""


@pytest.fixture
def schema(make_project, call):
    """The schema of a model as `ls` shows it, with arguments and variables."""
    root = make_project({**MODELS, "profiles.yml": PROFILES})

    def shown(*arguments, **env):
        done = call(*arguments, "ls", "-s", "a", "--output", "json", "--output-keys", "schema", cwd=root, env=env)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["schema"]

    return shown


def test_a_variable_of_dbt_stands_for_an_option(schema):
    assert [schema(), schema(DBT_TARGET="prod"), schema(DBT_PROFILE="other")] == ["dev", "prod", "other"]
    assert schema(DBT_TARGET="") == "dev"


def test_ours_wins_over_dbts_and_the_command_line_over_both(schema, make_project, call):
    assert schema(DBT_TARGET="prod", MERGE_RUNNER_TARGET="dev") == "dev"
    assert schema(DBT_TARGET="dev", DBT_ENGINE_TARGET="prod") == "prod"
    root = make_project({**MODELS, "profiles.yml": PROFILES})
    arguments = ("ls", "-s", "a", "--output", "json", "--output-keys", "schema", "-t", "dev")
    done = call(*arguments, cwd=root, env={"MERGE_RUNNER_TARGET": "prod", "DBT_TARGET": "prod"})
    assert json.loads(done.stdout)["schema"] == "dev"


def test_folders_and_the_log_format_come_from_variables(make_project, call, tmp_path):
    root = make_project(MODELS)
    env = {"DBT_PROJECT_DIR": str(root), "DBT_TARGET_PATH": str(tmp_path / "out"), "DBT_LOG_FORMAT": "json"}
    done = call("parse", cwd=tmp_path, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out/manifest.json").exists()
    assert [json.loads(line)["info"]["name"] for line in done.stdout.splitlines()] == ["Note"]
    assert call("ls", cwd=tmp_path, env={**env, "DBT_LOG_FORMAT": "text"}).stdout == "a\nb\n"
    ours = call("parse", cwd=tmp_path, env={**env, "MERGE_RUNNER_LOG_FORMAT": "json"})
    assert json.loads(ours.stderr)["event"] == "message"


def test_json_means_dbts_lines_where_the_caller_takes_us_for_dbt(make_project, call):
    root = make_project(MODELS)
    for place in (("--log-format", "json", "ls"), ("ls", "--log-format", "json")):
        done = call(*place, cwd=root, env={"DBT_LOG_FORMAT": "json"})
        assert [json.loads(line)["data"]["msg"] for line in done.stdout.splitlines()] == ["a", "b"]
        assert call(*place, cwd=root).stdout == "a\nb\n"
    assert call("--version").stdout.startswith("merge-runner ")
    assert call("--version", env={"DBT_LOG_FORMAT": "json"}).stdout.startswith("dbt 2.0.0 (in its place merge-runner ")


def test_a_flag_that_is_neither_true_nor_false_is_a_usage_error(make_project, call):
    done = call("ls", cwd=make_project(MODELS), env={"DBT_QUIET": "perhaps"})
    assert done.returncode == 2
    assert "the environment variable DBT_QUIET is 'perhaps': write true or false, or unset it." in done.stderr


@pytest.mark.parametrize(("text", "value"), [("1", True), ("TRUE", True), ("no", False), ("0", False)])
def test_flags_are_written_as_in_dbt(text, value):
    assert options_of({"DBT_FAIL_FAST": text}) == {"fail_fast": ("DBT_FAIL_FAST", value)}
    assert options_of({"DBT_USE_COLORS": text}) == {"no_use_colors": ("DBT_USE_COLORS", not value)}


def test_retry_takes_what_was_kept_before_a_variable(make_project, monkeypatch):
    root = make_project({**model_files({"m": {}}), "profiles.yml": PROFILES})
    lake = Lake()

    def run(*arguments, **faults):
        with pytest.raises(SystemExit) as end:
            main([*arguments, "--project-dir", str(root)], Host(start=Starts(FakeDriver(lake, **faults))))
        return end.value.code

    assert run("build", "--no-lint", "-t", "prod", faults={"m": ["fails"]}) == 1
    monkeypatch.setenv("DBT_TARGET", "dev")
    assert run("retry") == 0
    assert last_invocation(root / "target").args["target"] == "prod"


def test_flags_of_dbt_without_effect_are_accepted_everywhere(make_project, call):
    root = make_project(MODELS)
    given = []
    for option in accepted():
        assert option.hidden
        for flag in (*option.opts, *option.secondary_opts):
            given += [flag] if option.is_flag else [flag, "1"]
    for arguments in ((*given, "ls"), ("ls", *given)):
        done = call(*arguments, cwd=root)
        assert (done.returncode, done.stdout, done.stderr) == (0, "a\nb\n", "")
    debug = call("ls", "-d", "--no-partial-parse", cwd=root).stderr
    assert "--partial-parse, --no-partial-parse has no effect: what is unchanged is never read again" in debug


def test_debug_says_where_an_option_comes_from(make_project, call):
    done = call("ls", "-d", cwd=make_project({**MODELS, "profiles.yml": PROFILES}), env={"DBT_TARGET": "prod"})
    assert "target is set by the environment variable DBT_TARGET" in done.stderr


YAML = """
models:
  - {name: a, columns: [{name: id, data_tests: [not_null, {relationships: {to: ref('b'), field: id}}]}]}
"""


@pytest.mark.parametrize(
    ("mode", "tests"),
    [("eager", 2), ("cautious", 1), ("buildable", 1), ("empty", 0)],
)
def test_tests_come_along_as_asked(make_project, call, mode, tests):
    root = make_project({**MODELS, "models/a.yml": YAML})
    for arguments, env in (((), {"DBT_INDIRECT_SELECTION": mode}), (("--indirect-selection", mode), {})):
        done = call("ls", "-s", "a", *arguments, cwd=root, env=env)
        assert len(done.stdout.split()) == 1 + tests, done


def test_a_variable_is_no_reason_to_refuse_paths(call, tmp_path):
    (tmp_path / "plain.sql").write_text("merge into a.b t using a.c s on t.id = s.id when matched then delete")
    assert call("lint", "plain.sql", env={"DBT_STATE": str(tmp_path), "DBT_TARGET": "prod"}).returncode in (0, 1)
    assert call("lint", "plain.sql", "--state", tmp_path).returncode == 2
