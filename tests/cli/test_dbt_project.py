"""What somebody who comes from dbt sees of a project: the default selector, and what is not read."""

import json

import pytest

MERGE = "merge into {{ this }} t using (select 1 as id) s on t.id = s.id when not matched then insert *"


def test_the_default_selector_counts_where_nothing_is_selected(make_project, call):
    selectors = """\
        selectors:
          - {name: nightly, default: true, definition: {method: tag, value: nightly, children: true}}
        """
    files = {
        "selectors.yml": selectors,
        "models/a.sql": "{{ config(tags='nightly') }} select 1 as id",
        "models/b.sql": "select * from {{ ref('a') }}",
        "models/c.sql": "select 1 as id",
    }
    root = make_project(files)
    done = call("ls", cwd=root)
    assert (done.stdout, done.returncode) == ("a\nb\n", 0)
    assert done.stderr == ("the default selector nightly of selectors.yml counts; --select '*' takes all nodes\n")
    assert call("ls", "-s", "*", cwd=root).stdout == "a\nc\nb\n"
    assert call("ls", "--exclude", "b", cwd=root).stdout == "a\nc\n"
    assert call("ls", "-q", cwd=root).stderr == ""
    assert json.loads(call("lint", "--format", "json", cwd=root).stdout)["summary"]["models"] == 3


CONVERTED = {
    "dbt_project.yml": "name: shop\n",
    "packages.yml": "packages: []\n",
    "snapshots/orders.sql": "{% snapshot order_history %}select 1{% endsnapshot %}",
    "analyses/a.sql": "select 1",
    "analyses/b.sql": "select 1",
    "models/a.sql": MERGE,
    "models/score.py": "import x\n\ndef model(dbt, session):\n    return None\n",
    "models/helper.py": "def other():\n    return None\n",
    "models/m.yml": """\
        models: [{name: a, access: public, deprecation_date: 2030-01-01, columns: [{name: id, config: {meta: {x: 1}}}]}]
        exposures: [{name: e, type: dashboard, owner: {name: me}}]
        groups: [{name: finance, owner: {name: me}}]
        sources: [{name: raw, loader: fivetran, quoting: {identifier: true}, tables: [{name: t, loader: x}]}]
        """,
    "models/more.yml": "exposures: [{name: f, type: ml, owner: {}}]\nmetrics: [{name: revenue}, {name: cost}]\nanchors: [{x: 1}]\n",
}
NOTES = """\
dbt_project.yml: note: it is not read; settings are in [tool.merge-runner] of pyproject.toml: vars, models, seeds
snapshots: note: 1 snapshot is not run; write the history as a MERGE model (SCD2)
models/score.py: note: 1 Python model is not run; write the model in SQL, or build its table elsewhere and declare it as a source
models/more.yml: note: 2 metrics are not read; there is no semantic layer
"""


def test_what_is_not_read_of_a_dbt_project_is_named_once(make_project, call):
    root = make_project(CONVERTED)
    done = call("ls", "--output", "json", cwd=root)
    assert (done.stderr, done.returncode) == (NOTES, 0)
    assert [json.loads(line)["name"] for line in done.stdout.splitlines()] == ["e", "f", "a", "t"]
    assert call("parse", cwd=root).stderr.startswith(NOTES)
    linted = call("lint", "--format", "json", cwd=root)
    assert linted.stderr == NOTES
    assert json.loads(linted.stdout)["summary"]["models"] == 1
    assert call("compile", cwd=root).stderr.startswith("3 nodes compiled")
    assert call("ls", "-q", cwd=root).stderr == ""
    events = [json.loads(line) for line in call("ls", "--log-format", "json", cwd=root).stderr.splitlines()]
    assert [(event["level"], event["code"], event["path"]) for event in events][:2] == [
        ("info", "not-read", "dbt_project.yml"),
        ("info", "not-read", "snapshots"),
    ]
    assert call("ls", "--warn-error", cwd=root).returncode == 0


def test_a_ref_to_what_is_not_read_says_so(make_project, call):
    root = make_project({**CONVERTED, "models/b.sql": "select * from {{ ref('score') }}, {{ ref('order_history') }}"})
    told = call("ls", cwd=root).stderr
    assert "score belongs to models/score.py, which is not read: write the model in SQL" in told
    assert "order_history belongs to snapshots, which is not read: write the history as a MERGE model" in told


def test_a_project_of_our_own_gets_no_notes(make_project, call):
    root = make_project({"models/a.sql": MERGE, "models/tool.py": "print()\n", "macros/snapshots/x.sql": ""})
    assert call("ls", cwd=root).stderr == ""


@pytest.mark.parametrize("command", ["parse", "lint", "ls"])
def test_a_var_that_nothing_reads_is_warned_of_each_time(make_project, call, command):
    files = {
        "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.vars]\nlate_days = 3\n',
        "models/a.sql": "select 1 as id {% if false %}{{ var('untaken') }}{% endif %} -- {{ var('dyn' ~ 'amic', 1) }}",
        "models/a.yml": """models: [{name: a, description: "{{ var(\\"in_yaml\\", 1) }}"}]\n""",
    }
    root = make_project(files)
    read = "{late_days: 7, untaken: 1, dynamic: 2, in_yaml: 3}"
    assert "warning" not in call(command, "--vars", read, "--warn-error", cwd=root).stderr
    for _ in range(2):
        done = call(command, "--vars", "{late_dayz: 7}", cwd=root)
        assert 'warning: --vars: no file reads the var "late_dayz"' in done.stderr
        assert 'did you mean "late_days"?' in done.stderr
        assert done.returncode == 0
    assert call(command, "--vars", "{late_dayz: 7}", "--warn-error", cwd=root).returncode == 1


@pytest.mark.parametrize("command", ["parse", "lint", "compile", "explain"])
def test_an_incremental_model_without_a_merge_is_warned_of_each_time(make_project, call, command):
    root = make_project(
        {"models/up.sql": "select 1 as id", "models/sel.sql": "select 1 as id {% if is_incremental() %} -- {% endif %}"}
    )
    for _ in range(2):
        done = call(command, cwd=root)
        assert "models/sel.sql:1:22: warning: is_incremental() is always false in a view" in done.stderr
        assert done.returncode == 0
    assert call(command, "--warn-error", cwd=root).returncode == 1
    if command != "parse":
        assert call(command, "--warn-error", "--select", "up", cwd=root).returncode == 0


@pytest.mark.parametrize("command", ["build", "run", "test", "stream", "retry"])
def test_commands_that_run_warn_of_it_before_anything_runs(make_project, call, command):
    root = make_project({"models/sel.sql": "select 1 as id {% if is_incremental() %} -- {% endif %}"})
    last = {
        "metadata": {"invocation_id": "a"},
        "args": {"which": "build"},
        "results": [{"unique_id": "model.shop.sel", "status": "error"}],
    }
    (root / "target").mkdir(exist_ok=True)
    (root / "target/run_results.json").write_text(json.dumps(last))
    done = call(command, "--warn-error", cwd=root)
    assert done.returncode == 1
    assert "models/sel.sql:1:22: error: is_incremental() is always false in a view" in done.stderr
    assert "starting Spark" not in done.stderr
