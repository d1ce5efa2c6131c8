"""Property files and captures of a large project are split over processes: what comes of it is the same."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.written_project import write_project

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux forks safely")

MODELS = 150
PER_FILE = 10
LAST = "models/m149.sql"
MODEL = (
    "{{ config(tags=['t']) }}select {{ clean('id') }} as id, {{ var('day', 1) }} as day from {{ source('raw', 's') }}\n"
)
MACROS = "{% macro clean(column) %}{% for each in [column] %}trim({{ each }}){% endfor %}{% endmacro %}\n"
SOURCES = "version: 2\nsources: [{name: raw, tables: [{name: s, columns: [{name: id, data_type: string}]}]}]\n"
DESCRIBED = "  - {{name: m{0:03}, columns: [{{name: id, data_tests: [not_null]}}, {{name: day, data_type: int}}]}}\n"
UNIT_TESTS = """
version: 2
unit_tests:
  - name: {name}
    model: m001
    given: [{{input: "source('raw', 's')", rows: [{{id: a}}]}}]
    expect: {{rows: [{{id: a}}]}}
"""
SOURCE = "version: 2\nsources:\n  - {{name: other, tables: [{{name: {name}, config: {{enabled: {enabled}}}}}]}}\n"

LOAD = """
import json, os, sys, threading
from pathlib import Path
from merge_runner.errors import ProblemsError
from merge_runner.plan.load.flags import Flags
from merge_runner.plan.load.project_context import prepare, prepare_to_lint
from merge_runner.project.syntax.environment import RecordingEnv

os.sched_getaffinity = lambda _: range(3)
forks = 0

def forked():
    global forks
    forks += 1

os.register_at_fork(after_in_parent=forked)
root = Path(sys.argv[1])

def loaded(load, **options):
    env = RecordingEnv({"WHO": "me", "OWNER": "you"})
    try:
        found = load(root, Flags(), env, **options)
    except ProblemsError as error:
        return str(error), list(error.problems), env.asked
    prepared, problems = found if isinstance(found, tuple) else (found, ())
    files, graph = prepared.files, prepared.graph
    nodes = {unique_id: graph.nodes[unique_id] for unique_id in graph.nodes}
    parts = {name: value for name, value in vars(files).items() if name not in ("models", "data_tests")}
    parts |= {name: dict(getattr(files, name)) for name in ("models", "data_tests")}
    order = [list(value) for value in (nodes, *parts.values()) if isinstance(value, dict)]
    about = [dict(graph.dag.pred), graph.macros, graph.disabled, graph.unread, graph.warnings, graph.vars_of]
    return nodes, parts, order, about, problems, env.asked

def all_ways():
    return [loaded(prepare_to_lint, cache=False), loaded(prepare)]

split = all_ways()
said = {"forks": forks}
thread = threading.Thread(target=threading.Event().wait, daemon=True)
thread.start()  # next to which nothing is forked
alone = all_ways()
said |= {"in one process": forks == said["forks"], "same": split == alone, "asked": alone[0][-1]}
said["problems"] = [str(each) for each in alone[0][-2]]
print(json.dumps(said))
"""


def project(tmp_path, changes):
    """Write a project whose last files have the changes."""
    names = range(MODELS)
    files = {f"models/m{number:03}.sql": MODEL for number in names} | {"macros/m.sql": MACROS, "models/s.yml": SOURCES}
    for start in range(0, MODELS, PER_FILE):
        entries = "".join(DESCRIBED.format(number) for number in names[start : start + PER_FILE])
        files[f"models/m{start:03}.yml"] = f"version: 2\nmodels:\n{entries}"
    return write_project(tmp_path, "s", {**files, **changes})


CLEAN = {
    LAST: "select '{% if env_var('WHO') %}1{% endif %}' as id\n",
    "models/a.yml": UNIT_TESTS.format(name="one"),
    "models/b.yml": SOURCE.format(name="off_then_on", enabled="false"),
    "models/c.yml": SOURCE.format(name="off", enabled="false"),
    "models/w.yml": "version: 2\nsnapshots: [{name: old}]\n",
    "models/x.yml": "version: 2\nmodels: []\nsources: [{name: env, schema: \"{{ env_var('OWNER') }}\", tables: [{name: e}]}]\n",
    "models/y.yml": UNIT_TESTS.format(name="two"),
    "models/z.yml": SOURCE.format(name="off_then_on", enabled="true") + "  - {name: more, tables: [{name: u}]}\n",
    "models/zz.yml": SOURCE.format(name="off", enabled="false"),
}
JINJA = {
    LAST: "select {{ nothing }} as id\n",
    "models/m001.sql": "select {{ ref('m149') }}, {{ no_name }}",
}
WRONG = {
    "models/a.yml": UNIT_TESTS.format(name="one"),
    "models/b.yml": SOURCE.format(name="on_then_off", enabled="true"),
    "models/w.yml": "version: 2\nmodels: [{name: m001}]\n",
    "models/x.yml": "version: 2\nmodels: {\n",
    "models/y.yml": UNIT_TESTS.format(name="one"),
    "models/z.yml": SOURCE.format(name="on_then_off", enabled="false"),
}


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        (CLEAN, []),
        (JINJA, ["nothing", "no_name"]),
        (WRONG, ["not YAML", 'm001" is described twice', 'other.on_then_off" is described', 'unit test "one" is']),
    ],
)
def test_a_project_is_what_it_is_in_one_process(tmp_path, changes, problems):
    root = project(tmp_path, changes)
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(root)], capture_output=True, text=True, check=True, timeout=120
    )
    said = json.loads(done.stdout)
    assert said["same"] and said["in one process"]
    assert said["forks"] >= 4  # two or more for each kind of file
    text = "\n".join(said["problems"])
    assert [each for each in problems if each not in text] == []
    if not problems:
        assert said["problems"] == []
        assert {name: said["asked"].get(name) for name in ("WHO", "OWNER")} == {"WHO": "me", "OWNER": "you"}
