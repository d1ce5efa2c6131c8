"""The package without extras: what reads a project works, and what needs Spark says which extra has it."""

import json
import subprocess
import sys

import pytest

STAGING = "select 1 as id, 'a' as name"
MERGE = "merge into {{ this }} t using {{ ref('stg') }} s on t.id = s.id when not matched then insert *"
PROFILE = """
shop:
  target: dev
  outputs:
    dev: {master: "local[2]", warehouse: warehouse, schema: shop}
    far: {remote: "sc://127.0.0.1:9", schema: shop}
"""

MAIN = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO


class Without:
    \"\"\"A finder of modules and distributions that does not find some packages.\"\"\"

    def __init__(self, finder, names):
        self.finder, self.names = finder, names

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] in self.names else self.finder.find_spec(name, path, target)

    def find_distributions(self, context):
        found = getattr(self.finder, "find_distributions", lambda _context: ())(context)
        return (each for each in found if each.metadata["Name"].replace("-", "_") not in self.names)


missing, *commands = json.loads(sys.argv[1])
sys.meta_path[:] = [Without(finder, missing) for finder in sys.meta_path]
from merge_runner.cli.main import main

for command in commands:
    with redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        try:
            main(command)
        except SystemExit as end:
            status = end.code
    print(json.dumps([status, out.getvalue(), err.getvalue()]))
"""
SPARK = ["pyspark", "py4j", "delta", "delta_spark", "grpc", "pandas", "pyarrow", "numpy"]
ALL_BUT_A_JVM = ["py4j"]  # pyspark-client is like that
AGENTS = ["mcp"]
READ = [
    ("ls", 0, "fct"),
    ("parse", 0, "2 nodes"),
    ("compile -s fct", 0, "1 node compiled"),
    ("explain -s fct", 0, "fct"),
    ("lineage fct.id", 0, "stg"),
    ("lint", 0, "P001"),
    ("lint scripts", 0, "P001"),
    ("rule P001", 0, "unbounded-target"),
    ("schema pyproject", 0, "$schema"),
    ("import scripts --to imported", 0, "orders"),
    ("init another", 0, "another"),
    ("warm status", 1, "no warm driver"),
]
RUN = [
    ("build", SPARK, "spark"),
    ("run -s fct", SPARK, "spark"),
    ("explain --spark", SPARK, "spark"),
    ("warm start", SPARK, "spark"),
    ("debug", SPARK, "spark"),
    ("debug --spark", SPARK, "spark"),
    ("build -t far", SPARK, "connect"),
    ("build", ALL_BUT_A_JVM, "spark"),
    ("mcp", AGENTS, "mcp"),
]


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    """The exit status, standard output and error of each command without some packages."""
    root = tmp_path_factory.mktemp("shop")
    (root / "models").mkdir()
    (root / "models/stg.sql").write_text(STAGING)
    (root / "models/fct.sql").write_text(MERGE)
    (root / "pyproject.toml").write_text('[tool.merge-runner]\nname = "shop"\nprofile = "shop"\n')
    (root / "profiles.yml").write_text(PROFILE)
    (root / "scripts").mkdir()
    (root / "scripts/orders.sql").write_text("merge into a.b t using a.c s on t.id = s.id when matched then delete;")
    found = {}
    for missing in (SPARK, ALL_BUT_A_JVM, AGENTS):
        commands = [command for command, without, _ in RUN if without is missing]
        commands += [command for command, _, _ in READ] if missing is SPARK else []
        arguments = json.dumps([missing, *(command.split() for command in commands)])
        process = [sys.executable, "-c", MAIN, arguments]
        lines = subprocess.run(process, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
        found |= {(command, missing[0]): json.loads(line) for command, line in zip(commands, lines, strict=True)}
    return found


@pytest.mark.parametrize(("command", "expected", "said"), READ)
def test_what_runs_no_spark_needs_none(ended, command, expected, said):
    status, out, err = ended[command, SPARK[0]]
    assert (status, said in out + err) == (expected, True), (out, err)


@pytest.mark.parametrize(("command", "without", "extra"), RUN)
def test_what_runs_spark_names_its_extra(ended, command, without, extra):
    status, _, err = ended[command, without[0]]
    assert (status, f"pip install 'merge-runner[{extra}]'" in err) == (2, True), err
    assert "Traceback" not in err
