"""Every `merge-runner …` in README, the guides and the examples is a command with options that exist; those without Spark run."""

from __future__ import annotations

import shutil

import click
import pytest

from merge_runner.cli.command import Context
from merge_runner.cli.main import cli
from tests.docs.command_lines import CLUSTER, PAGES, ROOT, CommandLine, command_lines

LINES = [line for page in PAGES for line in command_lines(page)]
WITHOUT_SPARK = {"ls", "parse", "compile", "lint", "explain", "rule"}
FLIGHTS = {"README.md", "docs/getting-started/quickstart.md"}
"""Pages whose command lines are about the flights project, the repository itself."""
EDITED = {"models/aggregates/agg_airport_day.sql", "orders.sql"}
"""Files of which the page shows another text than the repository has."""


def parsed(line):
    """Return the names of the commands of a line; raise UsageError for a command, option or choice that does not exist."""
    # As the command line has them, not click's: a command keeps the help option of the first context that it is used with.
    command, args, context = cli, list(line.args), None
    names = []
    while isinstance(command, click.Group):
        context = Context(command, info_name=command.name, parent=context)
        name, command, args = command.resolve_command(context, args)
        names.append(name)
    context = Context(command, info_name=names[-1], parent=context)
    values, left, _ = command.make_parser(context).parse_args(args)
    for parameter in command.params:
        given = values.get(parameter.name)
        if isinstance(parameter, click.Argument) and parameter.nargs == 1 and parameter.required and not given:
            raise click.UsageError(f"{parameter.name} is missing")
        if isinstance(parameter.type, click.Choice) and given and isinstance(given, (str, list, tuple)):
            for value in given if isinstance(given, (list, tuple)) else [given]:
                parameter.type.convert(value, parameter, context)
    if left:
        raise click.UsageError(f"unexpected: {left}")
    return names


@pytest.mark.parametrize("line", LINES, ids=str)
def test_the_command_and_its_options_exist(line):
    names = parsed(line)
    assert names


def test_the_pages_have_command_lines():
    """A change of the pages' form must not make the tests here look at nothing."""
    pages = {str(line.page.relative_to(ROOT)) for line in LINES}
    assert {"README.md", "docs/guides/unit-tests.md", "examples/streaming/README.md"} <= pages
    assert len(LINES) > 100
    assert {"build", "lint", "stream", "publish", "warm", "source"} <= {line.args[0] for line in LINES}


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("```console\n$ merge-runner ls -s 'a b'  # all\nmerge-runner says\n```\n", ["ls", "-s", "a b"]),
        ("    cd x; merge-runner build --vars '{a: 1}'\n", ["build", "--vars", "{a: 1}"]),
        ("write `dbt parse && merge-runner\nlint`", ["lint"]),
        (
            "```yaml\n- run: merge-runner build --branch b-${{ x.y }}  # needs a cluster\n```\n",
            ["build", "--branch", "b-X"],
        ),
        ("```sql\n-- merge-runner lint\n```\nmerge-runner lint is fast", None),
    ],
)
def test_command_lines_of_a_page(tmp_path, text, args):
    page = tmp_path / "page.md"
    page.write_text(text)
    lines = list(command_lines(page))
    assert [list(line.args) for line in lines] == ([] if args is None else [args])
    assert [line.marked for line in lines] == [CLUSTER in text for _ in lines]


@pytest.mark.parametrize(
    "args", [["biuld"], ["build", "--bach-id", "3"], ["ls", "--output", "jsn"], ["source", "fresh"]]
)
def test_what_does_not_exist_is_found(args):
    with pytest.raises(click.ClickException):
        parsed(CommandLine(ROOT / "README.md", 1, tuple(args), False, True))


def runs(line):
    """Whether a line can be run here: without Spark or a cluster, in an example or the flights project, on its own files."""
    place = str(line.page.relative_to(ROOT))
    known = place in FLIGHTS or line.page.parent.parent.name == "examples"
    able = line.args[0] in WITHOUT_SPARK and "--spark" not in line.args and not line.marked
    return known and line.whole and able and not EDITED & set(line.args)


@pytest.mark.parametrize("line", [line for line in LINES if runs(line)], ids=str)
def test_a_command_line_without_spark_runs(line, tmp_path, monkeypatch):
    project = tmp_path / "project"
    if line.page.parent.parent.name == "examples":
        shutil.copytree(line.page.parent, project, ignore=shutil.ignore_patterns("target", "warehouse"))
    else:
        project.mkdir()
        for name in ("pyproject.toml", "profiles.yml"):
            shutil.copy(ROOT / name, project)
        for name in ("models", "macros", "seeds", "data_tests"):
            shutil.copytree(ROOT / name, project / name)
    monkeypatch.chdir(project)
    assert cli.main(list(line.args), "merge-runner", standalone_mode=False) == 0


def test_the_output_that_readme_shows_of_ls_is_what_ls_prints(monkeypatch, capsys):
    shown = (ROOT / "README.md").read_text(encoding="utf-8").partition("$ merge-runner ls ")[2]
    monkeypatch.chdir(ROOT)
    assert (
        cli.main(["ls", "-s", "+agg_route_day", "--resource-type", "model"], "merge-runner", standalone_mode=False) == 0
    )
    assert capsys.readouterr().out.split() == shown.partition("\n\n")[0].split("\n", 1)[1].split()
