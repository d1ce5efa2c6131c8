"""What the tools of `merge-runner mcp` answer is what the commands print; none of these needs Spark."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies

from merge_runner.cli.command import Context
from merge_runner.cli.commands import lint
from merge_runner.cli.commands.mcp_server.arguments import command_words, input_schema
from merge_runner.cli.commands.mcp_server.tools import BUILD, READING_TOOLS
from tests.cli.commands.mcp_server.served import served
from tests.written_project import write_files, write_project
from tests.yaml_data import read_yaml

DATA = read_yaml(Path(__file__).with_name("answers.yml"))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return write_project(tmp_path_factory.mktemp("mcp") / "shop", "shop", DATA["files"])


@pytest.fixture(scope="module")
def server(root):
    with served(root) as running:
        yield running


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: " ".join(case["words"]))
def test_a_tool_answers_what_the_command_prints(server, root, call, case):
    answer = server.call(case["tool"], **case["arguments"])
    ended = call(case["words"][0], "--quiet", *case["words"][1:], cwd=root)
    texts = tuple(text for text in (ended.stdout.strip(), ended.stderr.strip()) if text)
    assert answer.texts == texts
    assert answer.is_error is case.get("error", False)
    assert case.get("has", "") in answer.text


@pytest.mark.parametrize("case", DATA["wrong"], ids=lambda case: case["has"])
def test_a_wrong_argument_is_an_error_of_the_tool(server, case):
    answer = server.call(case["tool"], **case["arguments"])
    assert answer.is_error
    assert case["has"] in answer.text


def test_a_server_that_may_not_write_has_no_tool_that_does(server):
    tools = server.tools()
    assert [tool.name for tool in tools] == ["lint", "rule", "ls", "lineage", "explain", "show", "diff", "test"]
    assert all(tool.annotations.read_only_hint for tool in tools)
    assert all(tool.description for tool in tools)


@pytest.mark.parametrize("tool", (*READING_TOOLS, BUILD), ids=lambda tool: tool.name)
def test_the_parameters_of_a_tool_are_options_of_its_command(tool):
    properties = input_schema(tool)["properties"]
    assert list(properties) == list(tool.parameters)
    assert all(schema["description"] for schema in properties.values())


def test_no_value_is_read_as_an_option():
    assert command_words(READING_TOOLS[0].kind, {"select": ["--fix", "a b"], "paths": ["-o", "x"], "quiet": True}) == [
        *("--select=--fix", "--select=a b", "--quiet"),
        *("--", "-o", "x"),
    ]


TEXTS = strategies.lists(strategies.text(min_size=1) | strategies.sampled_from(["--fix", "-o", "--"]), min_size=1)


@given(select=TEXTS, paths=TEXTS)
def test_any_text_is_the_value_that_it_was_given_as(select, paths):
    words = command_words(READING_TOOLS[0].kind, {"select": select, "paths": paths})
    context = Context(lint.command, info_name="lint")
    values, left, _ = lint.command.make_parser(context).parse_args(words)
    assert (values["select"], list(values["paths"]), left) == (select, paths, [])


def test_nothing_but_the_protocol_is_on_standard_output(root):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "ls", "arguments": {"select": ["no"]}}},
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "merge_runner", "mcp", "--debug"],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        process.stdin.write("".join(f"{json.dumps(message)}\n" for message in messages))
        process.stdin.flush()
        lines = [json.loads(process.stdout.readline()) for _ in (1, 2)]
        process.stdin.close()
        lines += [json.loads(line) for line in process.stdout]
    assert sorted(line["id"] for line in lines) == [1, 2]
    assert process.returncode == 0


def test_a_project_that_is_broken_at_the_start_can_be_linted(tmp_path):
    root = write_project(tmp_path / "shop", "shop", {"models/fct.sql": "select * from {{ ref('nowhere') }}"})
    with served(root) as server:
        assert "nowhere" in server.call("lint").text
        write_files(root, {"models/fct.sql": "select 1 as id"})
        assert server.call("lint").is_error is False
        answer = server.call("show", select=["fct"])
        assert answer.is_error
        assert "the project could not be loaded when the server was started" in answer.text


def test_hooks_of_a_run_are_not_run_without_permission(tmp_path):
    settings = '[tool.merge-runner]\nname = "shop"\non-run-start = "create table a (b int)"\n'
    tested = "models: [{name: stg, columns: [{name: id, data_type: int, data_tests: [not_null]}]}]"
    files = {"pyproject.toml": settings, "models/stg.sql": "select 1 as id", "models/models.yml": tested}
    with served(write_project(tmp_path / "shop", "shop", files)) as server:
        answer = server.call("test")
    assert answer.is_error
    assert "pyproject.toml:1:1: error: the project has hooks of a run, which may write [not-accepted]" in answer.text


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("--select", "fct"), 2, "they need --allow-write"),
        (("--allow-write", "--select", "fct"), 2, "none of the selected models is a merge with `expect_merge`"),
        (("--allow-write", "--project-dir", "nowhere"), 2, "nowhere"),
    ],
)
def test_a_server_that_could_do_nothing_does_not_start(root, call, words, status, message):
    ended = call("mcp", *words, cwd=root)
    assert ended.returncode == status
    assert ended.stdout == ""
    assert message in ended.stderr
