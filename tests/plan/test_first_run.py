"""Plans of a model whose text depends on the kind of run: both forms are known before anything runs."""

import pytest

from merge_runner import Project
from merge_runner.errors import ProblemsError
from merge_runner.merge.parse import parse
from merge_runner.plan.explain.explain import explain
from merge_runner.plan.steps.inputs import AttachInputs
from merge_runner.plan.steps.merge import RunHook
from merge_runner.plan.steps.node_plan import RaiseError
from merge_runner.plan.steps.table import CreateTarget, KeepHistory
from merge_runner.pruning.runtime_filter.target_reads import target_reads
from merge_runner.relation import Relation

MODEL = """
{{ config(CONFIG) }}
merge into {{ this }} as t
using (select * from {% if is_incremental() %}{{ ref('news') }} where ts > (select max(ts) from {{ this }})
    {%- else %}{{ ref('history') }}{% endif %}) as s
   on t.id = s.id
when not matched then insert *
"""
FILES = {"models/news.sql": "select 1 as id, 1 as ts", "models/history.sql": "select 1 as id, 1 as ts"}


@pytest.fixture
def plan(make_project):
    def made(text, config="", **flags):
        root = make_project({**FILES, "models/fct.sql": text.replace("CONFIG", config)})
        project = Project.load(root, **flags)
        return next(node.plan for level in explain(project.prepared, ["model.shop.fct"]).levels for node in level)

    return made


def attached(plan):
    return [item.relation.identifier for step in plan.steps if isinstance(step, AttachInputs) for item in step.inputs]


def test_both_forms_are_planned_and_each_attaches_what_it_reads(plan):
    found = plan(MODEL)
    assert found.first_run is not None
    assert ("max(ts)" in found.sql, "max(ts)" in found.first_run.plan.sql) == (True, False)
    assert (attached(found), attached(found.first_run.plan)) == (["news"], ["history"])


def test_one_text_has_one_form(plan):
    same = MODEL.replace("{% if", "{# is_incremental() #}{% if true or").replace("true or is_incremental()", "true")
    assert plan(same).first_run is None
    assert plan(MODEL, full_refresh=True).first_run is None
    assert "max(ts)" not in plan(MODEL, full_refresh=True).sql


def test_full_refresh_false_keeps_both_flags(plan):
    found = plan(MODEL + "-- {{ is_full_refresh }}", "full_refresh=false", full_refresh=True)
    assert found.first_run is not None
    assert "-- False" in found.sql
    create = next(step for step in found.steps if isinstance(step, CreateTarget))
    assert not create.replace


def test_other_materializations_are_never_incremental(make_project):
    text = "select '{{ is_incremental() }}' as value"
    files = {
        "models/v.sql": text,
        "models/e.sql": "{{ config(materialized='ephemeral') }}" + text,
        "models/t.sql": "{{ config(materialized='table') }}select * from {{ ref('e') }}",
        "tests/none.sql": text + " from {{ ref('v') }} where false",
    }
    project = Project.load(make_project(files))
    for node in ("model.shop.v", "model.shop.t"):
        assert "'False'" in project.prepared.compiler.render(node).text
    singular = next(node for node in project.graph.nodes if node.startswith("test."))
    assert "'False'" in project.prepared.compiler.render(singular).text


def test_a_text_that_cannot_be_parsed_in_a_first_run_is_an_error_of_the_plan(plan):
    with pytest.raises(ProblemsError, match="not-a-merge"):
        plan(MODEL.replace("{%- else %}", "{%- else %} (( "))


def test_an_error_that_guards_a_first_run_is_a_step_of_it(plan):
    guard = "{% if not is_incremental() %}{{ exceptions.raise_compiler_error('not here') }}{% endif %}"
    first = plan(guard + MODEL).first_run
    assert [type(step) for step in first.plan.steps] == [RaiseError]
    found = plan(guard.replace("not is_incremental", "is_incremental") + MODEL)
    assert [type(step) for step in found.steps] == [RaiseError]
    assert "history" in found.first_run.plan.sql


def test_a_hook_that_renders_to_nothing_is_left_out(plan):
    hook = 'pre_hook="{% if is_incremental() %}delete from {{ this }}{% endif %}"'
    found = plan(MODEL, hook)
    hooks = [[step.sql for step in form.steps if isinstance(step, RunHook)] for form in found.forms]
    assert [len(sql) for sql in hooks] == [1, 0]


HISTORY = MODEL.replace("select * from {%", "select id, ts from {{ this }} union all select * from {%")


def test_a_full_refresh_that_loses_history_has_a_step_that_refuses_it(plan):
    found = plan(HISTORY, full_refresh=True)
    first = found.steps[0]
    assert isinstance(first, KeepHistory)
    assert (first.problem.code, str(first.problem.place)) == ("history-lost", "models/fct.sql:4:27")
    assert str(first).endswith("fct holds rows: --full-refresh would lose its history")
    allowed = plan(HISTORY, "full_refresh=true", full_refresh=True)
    creates = [
        next(step for step in each.steps if isinstance(step, CreateTarget))
        for each in (found, allowed, plan(HISTORY, "full_refresh=false", full_refresh=True), plan(HISTORY))
    ]
    assert [(create.replace, create.loses_history) for create in creates] == [
        (True, False),
        (True, True),
        (False, False),
        (False, False),
    ]
    assert not [step for step in allowed.steps if isinstance(step, KeepHistory)]


def test_a_high_water_mark_is_no_history(plan):
    text = MODEL.replace("{% if is_incremental() %}", "").replace(
        "\n    {%- else %}{{ ref('history') }}{% endif %}", ""
    )
    create = next(step for step in plan(text, full_refresh=True).steps if isinstance(step, CreateTarget))
    assert (create.loses_history, str(create.reads_itself)) == (False, "models/fct.sql:4:72")


@pytest.mark.parametrize(
    ("using", "told"),
    [
        ("(select * from s.a where x > (select max(x) from s.t))", [True]),
        ("(select * from s.a where x > (select coalesce(max(x), 0) - 1 from s.t where y > 1))", [True]),
        ("(select a.* from s.a cross join (select count(*) as n, max(x) as m from S.T) w where x > m)", [True]),
        ("(select * from s.a where id not in (select id from s.t))", [False]),
        ("(select id, max(x) as x from s.t group by id)", [False]),
        ("(select max(x) over () as x from s.t)", [False]),
        ("(select max(a.x) from s.a join s.t on a.id = t.id)", [False]),
        ("(select a.* from s.a left join s.t as old on a.id = old.id)", [False]),
        ("s.t", [False]),
        ("s.other", []),
        ("(select * from other.t)", []),
    ],
)
def test_where_a_source_reads_the_target(using, told):
    statement = parse(f"merge into s.t as t using {using} as src on t.id = src.id when matched then delete")
    reads = target_reads(statement)
    assert [read.only_aggregates for read in reads] == told
    assert all(read.span.of(statement.text).casefold() == "s.t" for read in reads)
    assert Relation("t", "s").name == "s.t"


@pytest.mark.parametrize(
    ("built", "line", "has_mark"),
    [
        (None, "an incremental run is shown; where {table} was never built, the first run differs", True),
        (True, "an incremental run: {table} was built before", True),
        (False, "a first run: {table} was never built, so is_incremental() is false", False),
    ],
)
def test_explain_says_which_form_it_shows(make_project, built, line, has_mark):
    project = Project.load(make_project({**FILES, "models/fct.sql": MODEL.replace("CONFIG", "")}))
    explanation = explain(project.prepared, ["model.shop.fct"], lambda _: built)
    table = project.graph.nodes["model.shop.fct"].relation.name
    assert f"    {line.format(table=table)}" in list(explanation.lines())
    ((node,),) = explanation.levels
    assert ("max(ts)" in node.plan.sql) is has_mark
    ((told,),) = explanation.as_json()["levels"]
    assert told["built"] is built
    assert any("history" in step["text"] for step in told["first_run"])
