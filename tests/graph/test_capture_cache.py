"""What is taken from earlier runs is what a run makes that has none: after any edit of anything, byte for byte."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merge_runner.api import Project, lint_paths
from merge_runner.cache_folder import VARIABLE
from merge_runner.errors import ProblemsError
from merge_runner.graph.output import output
from merge_runner.lint.outputs import render

CALLS = (
    *("{{ one() }}", "{{ two('a') }}", "{{ adapter.dispatch('three')() }}", "{{ adapter.dispatch('th' ~ 'ree')() }}"),
    *("{{ var('day', 1) }}", "{{ var('region', 'y') }}", "{{ env_var('REGION', 'x') }}", "{{ ref('base') }}"),
    *("{{ source('raw', 's') }}", "{% if one is defined %}d{% else %}u{% endif %}", "{{ tojson([1]) }}", "{{ this }}"),
    *("{{ config.get('tags') }}", "{% if is_incremental() %}{{ two('i') }}{% endif %}", "{{ target.schema }}"),
    *("{% if var('day', 1) == 1 %}{{ ref('base') }}{% endif %}", "{{ model.path }}", "plain"),
    *("{{ config(meta={'k': env_var('TOKEN', 'none'), 'v': var('day', 1)}) }}", "{{ config(tags=[one()]) }}"),
    *("{{ config(tags=('a', 'b')) }}", "{% for i in range(2) %}{{ one() }}{% endfor %}", "{{ var('list', [1])[0] }}"),
    "{% if not is_incremental() %}{{ exceptions.raise_compiler_error('no') }}{% endif %}",
)
BROKEN = ("{{ one(", "{{ unknown_name }}", "{{ ref('m1') }}", "{{ var('day') }}", "{{ two }}", "{{ three() }}")
NAMES = ("default__three", "default__three", "tojson", "tojson", "one")
FORMS = (
    "{{{{ config(materialized='view') }}}}\nselect {0} as c, {1} as d\n",
    "{0} {1}",
    "merge into {{{{ this }}}} as t using (select 1 as id) as s on t.id = s.id and t.c = '{0}' and t.d = '{1}'\n"
    "when not matched then insert *\n",
)


@dataclass
class State:
    """What a run sees: the files by path, the vars of the command line, the environment."""

    files: dict[str, str] = field(default_factory=dict)
    vars: dict[str, object] = field(default_factory=dict)
    env: dict[str, str] = field(default_factory=dict)
    full_refresh: bool = False
    target: str = "dev"
    asked: Mapping[str, str | None] = field(default_factory=dict)
    """What the last run has asked of the environment."""


calls = st.sampled_from(12 * CALLS + BROKEN)
model_texts = st.builds(lambda form, one, other: form.format(one, other), st.sampled_from(FORMS), calls, calls)
macro_calls = st.sampled_from([*(each for each in CALLS if "dispatch" not in each and "tags=" not in each), "text"])
CALLED_BY = {"one": ("two(", "one("), "two": ("two(",)}
"""What a macro does not call, so that none calls itself: that is tried by `two` in the file of a model."""


def macro(name: str, body: str) -> str:
    """Return a macro; a body that would call it again is a text."""
    calls_itself = any(call in body for call in CALLED_BY.get(name, ()))
    return f"{{% macro {name}(a) %}}{'text' if calls_itself else body}{{% endmacro %}}\n"


macro_texts = st.lists(st.tuples(st.sampled_from(NAMES), macro_calls), max_size=2, unique_by=lambda each: each[0]).map(
    lambda macros: "".join(macro(name, body) for name, body in macros)
)
first_macros = st.tuples(macro_calls, macro_calls, macro_calls).map(
    lambda bodies: "".join(map(macro, ("one", "two", "spark__three"), bodies))
)
yamls = st.builds(
    lambda tags, kind, sources: (
        f"models: [{{name: m0, config: {{tags: {tags}}}}}, {{name: m1, config: {{{kind}}}}}]\n"
        f"sources: [{{name: raw, tables: {sources}}}]\n"
    ),
    st.sampled_from(("[a]", "[b, c]", "[\"{{ var('day', 1) }}\"]")),
    st.sampled_from(("materialized: view", "enabled: false", "schema: other", "pre_hook: \"select '{{ one() }}'\"")),
    st.sampled_from(("[{name: s}]", "[{name: s, description: d}, {name: z}]")),
)
pyprojects = st.builds(
    lambda day, region: (
        '[tool.merge-runner]\nname = "shop"\n'
        + "".join(f"[tool.merge-runner.vars]\n{day}{region}" if day or region else "")
    ),
    st.sampled_from(("", "day = 1\n", "day = 2\n", "day = true\n")),
    st.sampled_from(("", 'region = "EMEA"\n')),
)
edits = st.one_of(
    st.tuples(st.sampled_from([f"models/m{number}.sql" for number in range(4)]), st.none() | model_texts),
    st.tuples(st.just("macros/f0.sql"), first_macros),
    st.tuples(st.sampled_from(("macros/f1.sql", "macros/f2.sql")), st.none() | macro_texts),
    st.tuples(st.just("models/all.yml"), yamls),
    st.tuples(st.just("pyproject.toml"), pyprojects),
    st.tuples(st.just("rename"), st.sampled_from(("m0", "m1", "m2"))),
    st.tuples(st.sampled_from(("var day", "var region")), st.sampled_from((None, 1, 2, True, "EMEA", [1]))),
    st.tuples(st.sampled_from(("env REGION", "env TOKEN")), st.sampled_from((None, "EMEA", "s3cret-value"))),
    st.tuples(st.just("full_refresh"), st.booleans()),
    st.tuples(st.just("target"), st.sampled_from(("dev", "prod"))),
)
start = st.fixed_dictionaries(
    {f"models/m{number}.sql": model_texts for number in range(3)}
    | {"macros/f0.sql": first_macros, "models/all.yml": yamls, "models/base.sql": st.just("select 1 as id\n")}
)


def apply(state: State, edit: tuple[str, object]) -> None:
    """Make an edit; one that is about a file that is not there makes none."""
    what, value = edit
    kind, _, name = what.partition(" ")
    if kind in ("var", "env"):
        known = state.vars if kind == "var" else state.env
        known.pop(name, None)
        if value is not None:
            known[name] = value
    elif what == "rename":
        if (text := state.files.pop(f"models/{value}.sql", None)) is not None:
            state.files[f"models/{value}_renamed.sql"] = text
    elif what in ("full_refresh", "target"):
        setattr(state, what, value)
    elif value is None:
        state.files.pop(what, None)
    else:
        state.files[what] = value


def write(state: State, root: Path) -> None:
    """Bring the files of a folder to a state."""
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_file() and name.split("/")[0] in ("models", "macros") and name not in state.files:
            path.unlink()
    for name, text in state.files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def said(state: State, root: Path, *, cache: bool = True) -> list[object]:
    """Everything that a run says: nodes, edges, warnings, listing, compiled texts, lint; or what is wrong."""
    options = {
        "vars": state.vars,
        "target": state.target,
        "full_refresh": state.full_refresh,
        "env": state.env | {VARIABLE: str(root / ".cache")},
        "cache": cache,
    }
    found: list[object] = []
    try:
        project = Project.load(root, on_log=lambda _: None, **options)
        graph = project.graph
        found += [graph.nodes, graph.macros, graph.disabled, graph.warnings, graph.vars_read, list(graph.dag.edges)]
        found += [[repr(getattr(node, "unrendered_config", None)) for node in graph.nodes.values()]]
        found += [list(output(graph, tuple(graph.nodes), "json")), project.prepared.unread_vars]
        found += [sorted(project.prepared.secrets)]
        state.asked = project.prepared.invocation.env.reads
        found.append(project.compile())
    except ProblemsError as error:
        found.append(error.problems)
    try:
        found.append(render(lint_paths(project_dir=root, **options), "json"))
    except ProblemsError as error:
        found.append(error.problems)
    return found


def check(first: dict[str, str], changes: list[tuple[str, object]]) -> None:
    """After each change a run with what is kept says what one without says."""
    state = State(dict(first))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        apply(state, ("pyproject.toml", '[tool.merge-runner]\nname = "shop"\n'))
        (root / "profiles.yml").write_text("shop: {target: dev, outputs: {dev: {schema: a}, prod: {schema: b}}}\n")
        for change in [None, *changes]:
            if change is not None:
                apply(state, change)
            write(state, root)
            kept, asked = said(state, root), set(state.asked)
            whole = said(state, root)  # nothing has changed: the project is not loaded again
            fresh = said(state, root, cache=False)
            assert asked >= set(state.asked)  # with what was asked for before
            assert kept == fresh
            assert whole == fresh
        (file,) = (root / ".cache/projects").iterdir()
        assert b"s3cret-value" not in file.read_bytes()


@given(start, st.lists(edits, max_size=6))
@settings(max_examples=settings.default.max_examples // 5)
def test_what_is_kept_changes_nothing(first, changes):
    check(first, changes)


@pytest.mark.slow
@given(start, st.lists(edits, min_size=5, max_size=25))
@settings(max_examples=settings.default.max_examples // 8)
def test_what_is_kept_changes_nothing_in_many_edits(first, changes):
    check(first, changes)


@pytest.mark.nightly
@given(start, st.lists(edits, min_size=5, max_size=25))
@settings(max_examples=4 * settings.default.max_examples)
def test_what_is_kept_changes_nothing_in_many_more_edits(first, changes):
    check(first, changes)


CHANGES = {
    "a var of the settings": (
        "{{ ref(var('name', 'a')) }}",
        ("pyproject.toml", "[tool.merge-runner.vars]\nname = 'b'\n"),
    ),
    "a var of the command line": ("{{ ref(var('name', 'a')) }}", ("var name", "b")),
    "the environment": ("{{ ref(env_var('NAME', 'a')) }}", ("env NAME", "b")),
    "a macro": ("{{ ref(name()) }}", ("macros/f.sql", "{% macro name() %}b{% endmacro %}")),
    "a macro that a macro calls": ("{{ ref(outer()) }}", ("macros/f.sql", "{% macro name() %}b{% endmacro %}")),
    "a macro by a computed name": (
        "{{ ref(adapter.dispatch('na' ~ 'me')()) }}",
        ("macros/d.sql", "{% macro default__name() %}b{% endmacro %}"),
    ),
    "a macro that goes first": (
        "{{ ref(adapter.dispatch('name')()) }}",
        ("macros/s.sql", "{% macro spark__name() %}b{% endmacro %}"),
    ),
    "a macro that is new": (
        "{{ ref('b' if added is defined else 'a') }}",
        ("macros/s.sql", "{% macro added() %}{% endmacro %}"),
    ),
    "the target": ("{{ ref('b' if target.schema == 'b' else 'a') }}", ("target", "prod")),
    "config in YAML": (
        "{{ ref(config.get('meta', {'n': 'a'}).n) }}",
        ("models/m.yml", "models: [{name: m, config: {meta: {n: b}}}]"),
    ),
    "its folder": ("{{ ref('b' if 'sub' in model.path else 'a') }}", ("move", None)),
}


@pytest.mark.parametrize("what", CHANGES)
def test_each_thing_that_a_template_reads_counts(what, tmp_path):
    text, (changed, value) = CHANGES[what]
    settings_ = '[tool.merge-runner]\nname = "shop"\n'
    files = {"pyproject.toml": settings_, "models/m.sql": f"select * from {text}\n"}
    files |= {f"models/{name}.sql": "select 1 as id\n" for name in "ab"}
    files["macros/f.sql"] = "{% macro name() %}a{% endmacro %}\n"
    files["macros/o.sql"] = "{% macro outer() %}{% if true %}{{ name() }}{% endif %}{% endmacro %}\n"
    files["macros/d.sql"] = "{% macro default__name() %}a{% endmacro %}\n"
    state = State(files)
    (tmp_path / "profiles.yml").write_text("shop: {target: dev, outputs: {dev: {schema: a}, prod: {schema: b}}}\n")

    def parents():
        write(state, tmp_path)
        options = {
            "vars": state.vars,
            "target": state.target,
            "env": state.env | {VARIABLE: str(tmp_path / ".cache")},
            "on_log": lambda _: None,
        }
        return Project.load(tmp_path, **options).graph.nodes["model.shop.m"].depends_on

    assert [parents(), parents()] == [("model.shop.a",)] * 2
    if changed == "move":
        files["models/sub/m.sql"] = files.pop("models/m.sql")
    else:
        apply(state, (changed, settings_ + value if changed == "pyproject.toml" else value))
    assert [parents(), parents()] == [("model.shop.b",)] * 2


def test_what_a_file_no_longer_asks_for_is_not_asked(tmp_path):
    macro = "{% macro name() %}a{{ env_var('TOKEN', '') }}{% endmacro %}\n"
    files = {"pyproject.toml": '[tool.merge-runner]\nname = "shop"\n', "macros/f.sql": macro}
    state = State({**files, "models/m.sql": "select {{ name() | length }} as n\n"})
    (tmp_path / "profiles.yml").write_text("shop: {outputs: {dev: {schema: a}}}\n")

    def asked():
        write(state, tmp_path)
        return (
            "TOKEN"
            in Project.load(
                tmp_path, env={"TOKEN": "1", VARIABLE: str(tmp_path / ".cache")}
            ).prepared.invocation.env.reads
        )

    assert [asked(), asked()] == [True, True]
    state.files["macros/f.sql"] = "{% macro name() %}a{% endmacro %}\n"
    assert [asked(), asked()] == [False, False]
