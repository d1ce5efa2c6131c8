"""Which heavy packages each command loads: what it needs alone."""

import subprocess
import sys

import pytest

FILES = {
    "models/stg.sql": "select 1 as id, 'a' as name",
    "models/fct.sql": "merge into {{ this }} t using {{ ref('stg') }} s on t.id = s.id when not matched then insert *",
}
PLAIN = "merge into t using s on t.id = s.id when matched then delete"
HEAVY = frozenset({"pyspark", "py4j", "delta", "rich", "sqlglot", "networkx", "jinja2", "pydantic", "yaml", "mcp"})
READS = {"pydantic", "yaml"}
"""What a project is read with."""
ANALYSES = {*READS, "jinja2", "sqlglot"}
"""What a MERGE of a project is rendered and judged with."""

COMMANDS = {
    ("--help",): set(),
    ("build", "--help"): set(),
    ("mcp", "--help"): set(),
    ("schema",): set(),
    ("ls",): READS,
    ("parse",): ANALYSES,
    ("lint",): ANALYSES,
    ("compile",): ANALYSES,
    ("lineage",): ANALYSES,
    ("explain",): {*ANALYSES, "networkx"},
    ("clean",): READS,
}
"""The most that a command loads on its first run in a project."""
AGAIN = {("ls",): set(), ("lint",): set()}
"""The most that it loads where nothing has changed since."""
RUN = """
import sys
from merge_runner.cli.main import main
try: main(sys.argv[1:])
except SystemExit as end: assert end.code in (0, 1), end.code
print(*sys.modules, file=sys.stderr)
"""
COMPLETE = """
import os, sys
os.environ.update(_MERGE_RUNNER_COMPLETE='fish_complete', COMP_WORDS='merge-runner run -s ', COMP_CWORD='')
from merge_runner.cli.main import main
try: main()
except SystemExit as end: assert end.code == 0, end.code
print(*sys.modules, file=sys.stderr)
"""
LAUNCH = """
import sys
from merge_runner.cli.host import Host
from merge_runner.cli.main import main

class Launch:
    def abandon(self): pass
    def launch(self):
        print(*sys.modules, file=sys.stderr)
        raise SystemExit(0)

main(["build"], Host(start=lambda prepared, events: Launch()))
"""


def heavy_packages(code, *arguments, cwd):
    """Return the heavy packages that a process with this code has loaded in the end."""
    process = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=cwd, capture_output=True, text=True, check=True
    )
    return HEAVY & {name.partition(".")[0] for name in process.stderr.splitlines()[-1].split()}


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_loads_what_it_needs(make_project, command):
    root = make_project(FILES)
    assert heavy_packages(RUN, *command, cwd=root) <= COMMANDS[command]
    if command in AGAIN:
        assert heavy_packages(RUN, *command, cwd=root) <= AGAIN[command]


def test_a_file_without_a_project_is_judged_by_sqlglot_alone(tmp_path):
    (tmp_path / "a.sql").write_text(PLAIN)
    assert heavy_packages(RUN, "lint", "a.sql", cwd=tmp_path) == {"sqlglot"}


def test_completion_loads_what_reads_settings(make_project):
    assert heavy_packages(COMPLETE, cwd=make_project(FILES)) <= {"pydantic"}


def test_the_jvm_is_launched_before_pyspark_is_loaded(make_project):
    assert heavy_packages(LAUNCH, cwd=make_project(FILES)) <= ANALYSES


@pytest.mark.parametrize(
    ("modules", "most"),
    [
        ("merge_runner", set()),
        ("merge_runner.json_schemas", set()),
        ("merge_runner.merge.find, merge_runner.merge.statement", set()),
        ("merge_runner.lint.check", {"sqlglot"}),
        ("merge_runner.graph.build, merge_runner.graph.selection.select", READS),
    ],
)
def test_a_package_loads_what_it_needs(tmp_path, modules, most):
    assert heavy_packages(f"import sys, {modules}; print(*sys.modules, file=sys.stderr)", cwd=tmp_path) <= most
