"""What lint keeps of each model says what lint says without: after any edit of anything, all findings and verdicts."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merge_runner.api import lint_paths
from merge_runner.cache_folder import VARIABLE
from merge_runner.errors import ProblemsError
from merge_runner.lint.outputs import render
from merge_runner.lint.suppress.baseline import DEFAULT
from tests.graph.test_capture_cache import State, apply, write

READ = (
    *("{{ ref('base') }}", "{{ ref('eph') }}", "{{ ref('seen') }}", "{{ ref('typed') }}", "{{ ref('seed') }}"),
    *("{{ source('raw', 's') }}", "a.base", "a.typed", "b.seen", "a.seed", "outside.t", "{{ one() }}", "raw.s"),
    *("(select * from a.seen)", "(select id, day from {{ ref('eph') }})", "{{ ref(var('parent', 'base')) }}"),
    *("{{ ref(env_var('PARENT', 'typed')) }}", "{% if is_incremental() %}a.base{% else %}outside.t{% endif %}"),
)
ON = (
    *("t.id = s.id", "t.id = s.id and t.day = s.day", "t.id <=> s.id", "t.day = date'2024-01-01'", "{{ two('t') }}"),
    *("t.id = s.id and t.day >= date'{{ var('day', '2024-01-01') }}'", "t.id = s.id or s.id is null", "s.id = 1"),
    *("t.id = s.id and s.region = '{{ env_var('REGION', 'x') }}'", "t.id = s.id -- noqa: P001", "t.id = s.id and"),
    *("t.id = s.id /* NOQA: J002 */", "t.id = {{ var('day') }} -- noqa: J002", "t.day = '{{ target.schema }}'"),
)
CONFIG = (
    *("partition_by=['day']", "alias='shared'", "cluster_by=['id']", "bounds='off'", "scan='full'", "tags=['a']"),
    *("unique_key=['id', 'nope']", "concurrent=true, partition_by=['day']", "schema='x'", "properties={'a.b': 'c'}"),
    *("properties={'delta.targetFileSize': '1'}", "conf={'spark.sql.nope': '1'}", "concurrent=true, alias='shared'"),
    *("pre_hook=['declare variable v int']", "format='iceberg'", "materialized='table'", "conf={'a.b': 'c'}"),
    "post_hook=\"merge into {{ ref('typed') }} as h using outside.t as s on h.id = s.id when matched then delete\"",
    "post_hook=\"merge into b.seen as h using a.seed s on h.id = '{{ env_var('REGION', 'x') }}' when matched then delete\"",
)
CLAUSES = (
    *("when matched then update set *", "when not matched then insert *", "when not matched by source then delete"),
    *("when not matched then insert (id) values (s.id)", "when matched then update set t.id = s.id, t.nope = s.day"),
    *("when matched and s.day is null then delete", "when not matched then insert (id, day) values (s.id, s.other)"),
)


def merges(*read: str) -> st.SearchStrategy[str]:
    """Texts of models that read one of these."""
    form = "{{{{ config({0}) }}}}\nmerge into {{{{ this }}}} as t\nusing {1} as s\n  on {2}\n{3}\n{4}\n"
    return st.builds(form.format, *map(st.sampled_from, (CONFIG, read, ON, CLAUSES, ("", *CLAUSES))))


texts = {
    **{f"models/m{number}.sql": merges(*READ) for number in range(3)},
    "models/typed.sql": merges(*(each for each in READ if "typed" not in each and "parent" not in each)),
}
queries = st.builds(
    lambda kind, columns, read: f"{{{{ config(materialized='{kind}') }}}}\nselect {columns} from {read} as q\n",
    st.sampled_from(("view", "ephemeral", "table")),
    st.sampled_from(("*", "id, day", "id", "id, cast(day as date) as day, {{ one() }} as x", "distinct id")),
    st.sampled_from(("outside.t", "{{ source('raw', 's') }}", "a.seed", "(select 1 as id, current_date() as day)")),
)
texts |= {f"models/{name}.sql": queries for name in ("base", "eph", "seen")}
typed = "columns: [{name: id, data_type: bigint}, {name: day, data_type: date}]"
yamls = st.builds(
    lambda kind, of_typed, of_base, table: (
        f"models: [{{name: typed, {kind}}}, {{name: base, {of_typed}}}, {{name: m0, {of_base}}}]\n"
        f"sources: [{{name: raw, schema: raw, tables: [{{name: s, {table}}}]}}]\n"
    ),
    *[
        st.sampled_from(
            (
                *(typed, typed.replace("bigint", "int"), typed.replace("bigint", "string"), "description: d"),
                *("columns: [{name: id, data_tests: [unique, not_null]}]", "columns: [{name: day}]"),
                "columns: [{name: id, constraints: [{type: not_null}]}, {name: day}]",
            )
        )
    ]
    * 4,
)
catalogs = st.sampled_from(
    [
        f"version: 1\ntables: [{{name: {name}, format: {format}, columns: [{columns}]}}]\n"
        for name in ("outside.t", "a.base", "raw.s")
        for format in ("delta", "iceberg")
        for columns in (
            "{name: id, data_type: bigint}, {name: day, data_type: date, nullable: false}",
            "{name: id, data_type: string}",
        )
    ]
)
pyprojects = st.sampled_from(
    [
        f'[tool.merge-runner]\nname = "shop"\n{more}'
        for more in (
            "",
            "[tool.merge-runner.lint]\nignore = ['P']\n",
            "[tool.merge-runner.lint]\nselect = ['P', 'C']\n",
            "[tool.merge-runner.lint.severity]\nP001 = 'info'\n",
            "[tool.merge-runner.lint.per-path-ignores]\n'models/m0.sql' = ['C', 'P001']\n",
            "[tool.merge-runner.vars]\nparent = 'seen'\n",
            "[tool.merge-runner.models]\nunique_key = ['id']\n",
            "[tool.merge-runner.models]\nproperties = {'delta.targetFileSize' = '1'}\nconf = {'spark.sql.nope' = '1'}\n",
        )
    ]
)
profiles = st.sampled_from(
    [
        f"shop: {{target: dev, outputs: {{dev: {{schema: a{conf}}}, prod: {{schema: b}}}}}}\n"
        for conf in ("", ", conf: {spark.databricks.delta.schema.autoMerge.enabled: 'true'}", ", platform: databricks")
    ]
)
macros = st.sampled_from(
    [
        f"{{% macro one() %}}{one}{{% endmacro %}}\n{{% macro two(t) %}}{two}{{% endmacro %}}\n"
        for one in ("1", "a.base", "{{ ref('seed') }}", "{{ env_var('TOKEN', 'x') }}", "{{ var('day', 2) }}")
        for two in ("t.id = s.id", "{{ t }}.day = s.day", "t.id = {{ env_var('TOKEN', '1') }}")
    ]
)
edits = st.one_of(
    *[st.tuples(st.just(path), text) for path, text in texts.items()],
    st.tuples(st.just("baseline"), st.sampled_from(("written", None))),
    st.tuples(st.sampled_from(("models/m1.sql", "models/m2.sql")), st.none()),
    st.tuples(st.just("models/all.yml"), yamls),
    st.tuples(st.just("macros/f.sql"), macros),
    st.tuples(st.just("catalog.yml"), st.none() | catalogs),
    st.tuples(st.just("pyproject.toml"), pyprojects),
    st.tuples(st.just("profiles.yml"), profiles),
    st.tuples(st.just("seeds/seed.csv"), st.sampled_from(("id,day\n1,2024-01-01\n", "id\n1\n", "id,day,x\n1,,\n"))),
    st.tuples(st.just("rename"), st.sampled_from(("m1", "m2"))),
    st.tuples(st.sampled_from(("var day", "var parent")), st.sampled_from((None, "2024-02-01", "seen", "eph", 3))),
    st.tuples(st.sampled_from(("env REGION", "env TOKEN", "env PARENT")), st.sampled_from((None, "eph", "s3cret-x"))),
    st.tuples(st.just("full_refresh"), st.booleans()),
    st.tuples(st.just("target"), st.sampled_from(("dev", "prod"))),
)
start = st.fixed_dictionaries(
    texts
    | {"models/all.yml": yamls, "macros/f.sql": macros, "pyproject.toml": pyprojects, "profiles.yml": profiles}
    | {"seeds/seed.csv": st.just("id,day\n1,2024-01-01\n")}
)


def said(state: State, root: Path, **options: object) -> object:
    """The report in all details, or what is wrong."""
    given_ = {"vars": state.vars, "target": state.target, "full_refresh": state.full_refresh}
    try:
        return render(lint_paths(env=state.env | {VARIABLE: str(root / ".cache")}, **given_, **options), "json")
    except ProblemsError as error:
        return error.problems


def edit(state: State, root: Path, change: tuple[str, object] | None) -> None:
    """Make a change, and bring the folder to the state; the baseline is of what is found in it then."""
    if change is not None and change[0] != "baseline":
        apply(state, change)
    elif change is not None:
        state.files.pop(DEFAULT, None)
    for name in ("catalog.yml", DEFAULT):
        (root / name).unlink(missing_ok=True)
    write(state, root)
    if change == ("baseline", "written"):
        said(state, root, project_dir=root, cache=False, write_baseline=True)
        if (root / DEFAULT).is_file():
            state.files[DEFAULT] = (root / DEFAULT).read_text()


def check(first: dict[str, str], changes: list[tuple[str, object]]) -> None:
    """After each change a run with what is kept says what one without says, of the project and of one file."""
    state = State(dict(first))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for number, change in enumerate([None, *changes]):
            edit(state, root, change)
            model = root / list(texts)[number % len(texts)]
            asked = [{"paths": [model]}] * model.is_file() + [{"project_dir": root}]
            kept = [said(state, root, **options) for options in asked]
            fresh = [said(state, root, **options, cache=False) for options in asked]
            assert kept == fresh
        (file,) = (root / ".cache/projects").iterdir()
        assert b"s3cret-x" not in file.read_bytes()


@given(start, st.lists(edits, max_size=6))
@settings(max_examples=settings.default.max_examples // 5)
def test_what_is_kept_changes_no_finding(first, changes):
    check(first, changes)


@pytest.mark.slow
@given(start, st.lists(edits, min_size=5, max_size=25))
@settings(max_examples=settings.default.max_examples // 8)
def test_what_is_kept_changes_no_finding_in_many_edits(first, changes):
    check(first, changes)


@pytest.mark.nightly
@given(start, st.lists(edits, min_size=5, max_size=25))
@settings(max_examples=4 * settings.default.max_examples)
def test_what_is_kept_changes_no_finding_in_many_more_edits(first, changes):
    check(first, changes)
