"""A project that is the same as in an earlier run is not loaded again; whatever is wrong with what is kept, it is."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import pytest

from merge_runner import kept_values
from merge_runner.api import Project, lint_paths
from merge_runner.errors import ProblemsError
from merge_runner.graph.graph import DataTestNode, ModelNode, RefNode, SeedNode, SourceNode, UnitTestNode
from merge_runner.graph.kept.nodes import KeptNodes, heads_by_type, heads_of, nodes_of
from merge_runner.graph.order import topological
from merge_runner.lint.context import LintedProject
from merge_runner.lint.registry import rules
from merge_runner.lint.selection import RuleSelection
from merge_runner.plan.load.flags import Flags
from merge_runner.plan.load.kept_project import MOST_CHANGED, KeptProject
from merge_runner.plan.load.loaded_state import FOLDER
from merge_runner.plan.load.project_context import prepare, prepare_to_lint
from merge_runner.project.syntax.environment import RecordingEnv

FILES = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.vars]\nday = 1\n',
    "profiles.yml": "shop: {target: dev, outputs: {dev: {schema: a}, prod: {schema: b}}}\n",
    "models/base.sql": "select {{ var('day') }} as id, date '2024-01-01' as d\n",
    "models/m.sql": "merge into {{ this }} as t using {{ ref('base') }} as s on t.id = s.id\n"
    "when not matched then insert *\n",
    "models/all.yml": "models:\n- name: m\n  columns: [{name: id, data_type: bigint, data_tests: [not_null]}]\n"
    "  config: {meta: {since: 2024-01-01, ratio: 0.5}}\n"
    "sources: [{name: raw, freshness: {warn_after: {count: 1, period: day}}, tables: [{name: s, columns: [{name: id}]}]}]\n"
    "unit_tests: [{name: u, model: m, given: [{input: ref('base'), rows: [{id: 1}]}], expect: {rows: []}}]\n",
    "models/docs.md": "{% docs id %}The id.{% enddocs %}\n",
    "macros/f.sql": "{% macro one() %}1{% endmacro %}\n",
    "selectors.yml": "selectors: [{name: some, definition: {method: tag, value: x}}]\n",
    "seeds/numbers.csv": "id\n1\n",
    "tests/none.sql": "select * from {{ ref('m') }} where id is null\n",
}


@pytest.fixture
def root(tmp_path):
    for path, text in FILES.items():
        write(tmp_path, path, text)
    return tmp_path


def write(root: Path, path: str, text: str) -> None:
    """Write a file of the project."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def found(root: Path, env: dict[str, str] | None = None, checked: bool = False, **flags):
    """Return what an earlier run has kept of the project as it is now."""
    recording = RecordingEnv({"HOME": "/nowhere"} if env is None else env)
    kept = KeptProject.of(root, Flags(**flags), recording)
    known = None if kept is None else kept.get(recording, checked=checked)
    return None if known is None or known.texts else (known.files, known.graph)


def load(root: Path, env: dict[str, str] | None = None, **flags):
    """Load the project, and keep it."""
    return prepare(root, Flags(**flags), {"HOME": "/nowhere"} if env is None else env)


def test_everything_of_a_project_is_kept(root):
    loaded = load(root)
    files, graph = found(root)
    for each in fields(files):
        assert getattr(files, each.name) == getattr(loaded.files, each.name), each.name
    assert graph.nodes == loaded.graph.nodes
    assert list(graph.dag.edges) == list(loaded.graph.dag.edges)
    assert topological(graph) == topological(loaded.graph) == topological(graph, graph.nodes)
    assert graph == graph.__class__(
        **{each.name: getattr(loaded.graph, each.name) for each in fields(graph)} | {"dag": graph.dag}
    )


def test_heads_of_kept_nodes_are_those_of_the_nodes(root):
    loaded = load(root)
    _, graph = found(root)
    for kind in (ModelNode, SeedNode, SourceNode, RefNode):
        assert list(heads_of(graph.nodes, kind)) == list(heads_of(loaded.graph.nodes, kind))
    for kind in (ModelNode, DataTestNode, UnitTestNode, RefNode, SourceNode):
        nodes = list(nodes_of(graph.nodes, kind))
        assert nodes == [node for node in loaded.graph.nodes.values() if isinstance(node, kind)]
        assert nodes
    model = graph.model("model.shop.m")
    changed = graph.nodes.with_changed({"model.shop.m": replace(model, config=replace(model.config, concurrent=True))})
    assert [head.concurrent for head in heads_of(changed, ModelNode)] == [False, True]
    assert changed["model.shop.m"].config.concurrent
    assert not graph.model("model.shop.m").config.concurrent
    assert "model.shop.n" not in changed


class Counted(dict):
    """Nodes that note which of them are read."""

    def __init__(self, nodes):
        super().__init__(nodes)
        self.read = set()

    def __getitem__(self, unique_id):
        self.read.add(unique_id)
        return super().__getitem__(unique_id)


@pytest.mark.parametrize(("code", "read"), [("E001", "typed"), ("E002", "typed"), ("J002", "base"), ("X002", None)])
def test_rules_about_the_project_read_only_models_with_something_for_them(root, code, read):
    write(root, "models/typed.sql", "{{ config(properties={'a.b': 'c'}) }}" + FILES["models/m.sql"])
    loaded = load(root)
    nodes = Counted(loaded.graph.nodes)
    graph = replace(loaded.graph, nodes=KeptNodes(nodes, heads_by_type(loaded.graph.nodes)))
    rule = next(rule for rule in rules() if rule.code == code)
    project = LintedProject(loaded.files, graph, {}, frozenset(loaded.graph.nodes))
    list(rule.hits(rule.check_project, project, RuleSelection.from_settings(loaded.files.settings.lint).options(rule)))
    assert nodes.read == ({f"model.shop.{read}"} if read else set())


CHANGES = {path: (path, FILES[path] + "\n") for path in FILES} | {
    "a new model": ("models/sub/n.sql", "select 1 as id"),
    "a new folder": ("models/empty/x.txt", ""),
    "a baseline": ("merge-runner-baseline.txt", ""),
    "another tool's settings": ("dbt_project.yml", "name: shop"),
    "a snapshot": ("snapshots/s.sql", "{% snapshot s %}{% endsnapshot %}"),
    "a model in Python": ("models/p.py", "def model(dbt, session): ..."),
    "a fixture": ("tests/fixtures/rows.csv", "id\n1\n"),
}
NO_CHANGE = ("a baseline",)


@pytest.mark.parametrize("change", CHANGES)
def test_any_file_that_loading_reads_counts(root, change):
    load(root)
    assert found(root) is not None
    write(root, *CHANGES[change])
    assert (found(root) is not None) == (change in NO_CHANGE)


TEXTS = {
    "another condition": (FILES["models/m.sql"].replace("t.id = s.id", "t.id = s.id and t.id > 1"), True),
    "a var that was not read": ("-- {{ var('other', 1) }}\n" + FILES["models/m.sql"], True),
    "config": ("{{ config(tags=['x'], partition_by=['id']) }}\n" + FILES["models/m.sql"], True),
    "a warning": ("{{ config(format='delta', snapshot_keep='x') }}\n" + FILES["models/m.sql"], False),
    "another parent": (FILES["models/m.sql"].replace("ref('base')", "source('raw', 's')"), True),
    "a macro": (FILES["models/m.sql"].replace("= s.id", "= s.id + {{ one() }}"), True),
    "a byte order mark": ("\ufeff" + FILES["models/m.sql"].replace("\n", "\r\n"), True),
    "another table": ("{{ config(alias='other') }}\n" + FILES["models/m.sql"], False),
    "another kind": ("select 1 as id\n", False),
    "disabled": ("{{ config(enabled=false) }}\n" + FILES["models/m.sql"], False),
    "an unknown ref": (FILES["models/m.sql"].replace("base", "bas"), False),
    "a circle": (FILES["models/m.sql"].replace("base", "m"), False),
    "broken Jinja": ("{% if %}" + FILES["models/m.sql"], False),
    "changes": (FILES["models/m.sql"].replace("ref(", "changes("), False),
}


@pytest.mark.parametrize("edit", TEXTS)
def test_a_model_with_another_text_is_read_again_alone(root, edit):
    text, taken = TEXTS[edit]
    load(root)
    (file,) = (root / "target" / FOLDER).glob("*.bin")
    before = file.stat().st_mtime_ns, file.read_bytes()
    (root / "models/m.sql").write_text(text, encoding="utf-8", newline="")
    try:
        fresh = load(root, target_path="fresh")
    except ProblemsError as error:
        with pytest.raises(ProblemsError) as again:
            load(root)
        assert again.value.problems == error.problems
        assert not taken
        return
    found = load(root)
    assert (before == (file.stat().st_mtime_ns, file.read_bytes())) == taken
    assert found.graph == replace(fresh.graph, dag=found.graph.dag)
    assert list(found.graph.nodes) == list(fresh.graph.nodes)
    assert list(found.graph.dag.edges) == list(fresh.graph.dag.edges)
    assert topological(found.graph) == topological(fresh.graph)
    assert list(found.files.models.items()) == list(fresh.files.models.items())
    assert found.compiler.rendered("model.shop.m").text == fresh.compiler.rendered("model.shop.m").text


def test_more_texts_than_a_few_are_kept_again(root):
    for number in range(MOST_CHANGED + 2):
        write(root, f"models/n{number}.sql", "select 1 as id")
    load(root)
    for number in range(MOST_CHANGED + 2):
        write(root, f"models/n{number}.sql", "select 2 as id")
        assert load(root).graph.model(f"model.shop.n{number}").raw_code == "select 2 as id"
    (file,) = (root / "target" / FOLDER).glob("*.bin")
    before = file.read_bytes()
    write(root, "models/n0.sql", "select 3 as id")
    assert load(root).graph.model("model.shop.n0").raw_code == "select 3 as id"
    assert file.read_bytes() == before


def test_a_model_that_is_also_a_macro_file_is_more_than_a_model(root):
    write(root, "pyproject.toml", '[tool.merge-runner]\nname = "shop"\nmacro-paths = ["macros", "models"]\n')
    write(root, "models/base.sql", "select 1 as id {% macro three() %}3{% endmacro %}")
    load(root)
    write(root, "models/base.sql", "select 1 as id {% macro four() %}4{% endmacro %}")
    assert "macro.shop.four" in load(root).graph.macros


def test_a_misspelled_var_is_looked_for_in_the_texts_of_now(root):
    load(root, vars={"dya": 1})
    write(root, "models/m.sql", "-- {{ var('dya', 2) }}\n" + FILES["models/m.sql"])
    assert load(root, vars={"dya": 1}).unread_vars == []


def test_a_file_that_is_gone_counts(root):
    load(root)
    (root / "tests/none.sql").unlink()
    assert found(root) is None


@pytest.mark.parametrize(
    "flags", [{"target": "prod"}, {"vars": {"day": 2}}, {"vars": {"day": 1.5}}, {"full_refresh": True}]
)
def test_what_the_invocation_says_counts(root, flags):
    load(root)
    load(root, vars={"day": 1})
    assert found(root, **flags) is None
    load(root, **flags)
    assert found(root, **flags) is not None
    assert found(root) is not None


def test_the_environment_counts_that_is_asked(root):
    write(root, "models/m.sql", "{{ config(tags=[env_var('REGION', 'x')]) }} select 1 as id\n")
    env = {"HOME": "/nowhere", "OTHER": "1"}
    load(root, env)
    assert found(root, env | {"OTHER": "2"}) is not None
    assert found(root, env | {"REGION": "EMEA"}) is None


def test_what_was_asked_of_the_environment_is_asked_again(root):
    write(root, "models/m.sql", "{{ config(tags=[env_var('REGION', 'x')]) }} select 1 as id\n")
    env = RecordingEnv({"HOME": "/nowhere"})
    first = prepare(root, Flags(), env).invocation.env.asked
    again = RecordingEnv({"HOME": "/nowhere"})
    assert prepare(root, Flags(), again).invocation.env.asked == first
    assert "REGION" in again.asked


@pytest.mark.parametrize(
    ("path", "text", "env"),
    [
        (
            "models/m.sql",
            "{{ config(tags=[env_var('API_TOKEN', 'x')]) }} select 1 as id",
            {"API_TOKEN": "hunter2secret"},
        ),
        ("models/m.sql", "{{ config(tags=[env_var('REGION')]) }} select 1 as id", {"REGION": "hunter2secret"}),
        ("profiles.yml", "shop: {outputs: {dev: {schema: \"{{ env_var('NAME') }}\"}}}", {"NAME": "hunter2secret"}),
        ("profiles.yml", "shop: {outputs: {dev: {schema: a, conf: {spark.x.password: hunter2secret}}}}", {}),
    ],
)
def test_what_may_hold_a_secret_is_not_kept(root, path, text, env):
    write(root, path, text)
    load(root, {"HOME": "/nowhere", **env})
    kept = [file.read_bytes() for file in (root / "target").rglob("*") if file.is_file()]
    assert not any(b"hunter2secret" in each for each in kept)
    assert found(root, {"HOME": "/nowhere", **env}) is None


def test_a_project_with_a_problem_is_not_kept(root):
    write(root, "models/m.sql", "select * from {{ ref('unknown') }}")
    with pytest.raises(ProblemsError):
        load(root)
    prepare_to_lint(root, Flags(), {"HOME": "/nowhere"})
    assert found(root) is None


def test_lint_takes_a_project_whose_macros_were_checked(root):
    write(root, "macros/broken.sql", "{% macro two() %}{% if %}{% endmacro %}\n")
    load(root)
    assert found(root) is not None
    assert found(root, checked=True) is None
    assert "J001" in {finding.code for finding in lint_paths(project_dir=root, env={"HOME": "/nowhere"}).findings}


@pytest.mark.parametrize("bytes_", [b"", b"x", None])
def test_a_file_that_is_cut_or_changed_costs_time_alone(root, bytes_):
    load(root)
    (file,) = (root / "target" / FOLDER).glob("*.bin")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(bytes(content) if bytes_ is None else bytes_)
    assert found(root) is None
    assert load(root).graph.nodes.keys() == load(root).graph.nodes.keys()
    assert found(root) is not None


class _Call:
    def __reduce__(self):
        return os.mkdir, ("called",)


@pytest.mark.parametrize("value", [_Call(), sys.modules[__name__].KeptProject, subprocess.run, pytest.raises])
def test_nothing_that_is_kept_is_called(root, value, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pickle.UnpicklingError, match="is no value of a project"):
        kept_values.read_values(pickle.dumps(value))
    assert not (tmp_path / "called").exists()


def test_few_projects_stay(root):
    for day in range(7):
        load(root, vars={"day": day})
    assert len(list((root / "target" / FOLDER).glob("*.bin"))) == 4
    assert found(root, vars={"day": 6}) is not None


def test_a_folder_that_cannot_be_written_costs_time_alone(root):
    write(root, "target", "a file")
    assert load(root).graph.nodes
    assert found(root) is None


def test_two_processes_may_load_at_the_same_time(root):
    code = (
        "import sys; from merge_runner.api import Project\n"
        "for number in range(8): print(len(Project.load(sys.argv[1], vars={'day': number % 3}).graph.nodes))"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(root)], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = {process.communicate()[0] for process in started}
    assert said == {f"{len(load(root).graph.nodes)}\n" * 8}


def test_a_kept_project_builds_and_compiles_as_a_loaded_one(root):
    env = {"HOME": "/nowhere"}
    first = Project.load(root, env=env)
    texts, manifest = first.compile(["*"], ["resource_type:unit_test"]), first.write_manifest().read_text()
    again = Project.load(root, env=env)
    assert again.compile(["*"], ["resource_type:unit_test"]) == texts
    assert _without_times(again.write_manifest().read_text()) == _without_times(manifest)
    assert again.prepared.secrets == first.prepared.secrets


def _without_times(manifest: str) -> dict:
    found = json.loads(manifest)
    found.pop("metadata")
    return found
