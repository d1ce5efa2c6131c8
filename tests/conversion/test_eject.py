"""`eject`: the MERGE of a pattern, written out, means the same in every run."""

from dataclasses import replace
from datetime import date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from merge_runner.conversion.eject import eject
from merge_runner.errors import ProblemsError
from merge_runner.project.scaffold import PATTERNS
from merge_runner.relation import Relation
from merge_runner.template.context import Context
from merge_runner.template.templates import Templates
from merge_runner.text import SourceText

CONTEXT = Context(
    model_name="m",
    this=Relation("m", "shop"),
    resolve_ref=lambda name: Relation(name, "shop"),
    resolve_source=lambda source, table: Relation(table, source),
    vars={},
    env={"TOKEN": "secret"},
    target={"name": "dev", "schema": "shop"},
    full_refresh=False,
)
NAMES = st.text(st.sampled_from("ab`{}%#' \n."), min_size=1, max_size=4).filter(lambda name: "${" not in name)
VALUES = (
    st.text(st.sampled_from("ab'\\{}%\n"), max_size=4),
    st.integers(-(10**6), 10**6),
    st.dates(date(1900, 1, 1), date(2100, 1, 1)),
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
)
SOURCES = ("ref('raw')", "source('given', 'raw')", "changes('raw')", "'(select * from ' ~ ref('raw') ~ ')'")


def text_of(pattern, source, names):
    """The call of a pattern with these names of columns: three of keys and values, three more."""
    first, second, third = (repr(name) for name in names)
    given = {
        "upsert": f"[{first}], [{second}, {third}]",
        "scd1": f"[{first}], [{second}], {third}",
        "scd2": f"[{first}], [{second}], {third}",
        "cdc": f"[{first}], [{second}], {third}, operation='op', deletes=var('one')",
        "soft_delete": f"[{first}], [{second}], {third}",
        "insert_only": f"[{first}], [{second}], {third}",
        "snapshot_partition": f"{{{first}: var('one')}}, [{second}], [{third}]",
        "late_facts": f"[{first}], [{second}], {third}, [{first}, var('one'), var('other')]",
        "accumulating_snapshot": f"[{first}], [{second}, {third}]",
        "history_by_source": f"[{first}], [{second}, {third}], as_of=var('one')",
        "gdpr_delete": f"[{first}, {second}]",
    }
    return f"{{{{ merge_patterns.{pattern}({source}, {given[pattern]}) }}}}"


def render_with(templates, vars_):
    return lambda source, change: templates.render(source, change(replace(CONTEXT, vars=vars_)))


def check(data, pattern):
    names = data.draw(st.lists(NAMES, min_size=3, max_size=3, unique=True))
    kind = data.draw(st.sampled_from(VALUES))
    values = st.fixed_dictionaries({"one": kind, "other": kind})
    if pattern == "cdc":
        values = st.fixed_dictionaries({"one": st.text("ab'{", min_size=1, max_size=2)})
    around = [("", ""), ("\n  ", "\n"), ("{{ config(scan='full') }}\n", "\n-- {{ this }}")]
    before, after = data.draw(st.sampled_from(around))
    dash = data.draw(st.booleans())
    call = text_of(pattern, data.draw(st.sampled_from(SOURCES)), names)
    source = SourceText("models/m.sql", before + (call.replace("{{", "{{-", 1) if dash else call) + after)
    templates = Templates()
    written = SourceText("models/m.sql", eject(source, render_with(templates, data.draw(values)), {}))
    assert "merge_patterns" not in written.text
    render = render_with(templates, data.draw(values))  # not the values that it has seen
    for incremental, full_refresh in [(False, False), (True, False), (False, True)]:

        def run(context, incremental=incremental, full_refresh=full_refresh):
            return replace(context, incremental=incremental, full_refresh=full_refresh)

        one, other = render(source, run), render(written, run)
        assert other.text == one.text
        assert {ref.name for ref in other.captured.refs} == {ref.name for ref in one.captured.refs}
        assert {feed.name for feed in other.captured.changes} == {feed.name for feed in one.captured.changes}


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=settings.default.max_examples // 8)
@given(data=st.data())
def test_the_ejected_model_renders_to_the_same_text(data, pattern):
    check(data, pattern)


@pytest.mark.nightly
@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=1000)
@given(data=st.data())
def test_many_ejected_models_render_to_the_same_text(data, pattern):
    check(data, pattern)


def macros_of(templates):
    return {macro.name: macro.text for macro in templates.macros()}


UPSERT = "merge_patterns.upsert(ref('raw'), 'id', ['name'])"
MACROS = """
{% macro where_prod() %}{% if target.name == 'prod' %}x{% else %}y{% endif %}{% endmacro %}
{% macro fixed() %}{{ return('(select 1 as id, ' ~ var('label') | literal ~ ' as name)') }}{% endmacro %}
{% macro counted() %}{{ return('raw' if var('many') > 3 else 'few') }}{% endmacro %}
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("merge into {{ this }} …", "there is nothing to eject"),
        (f"{{% set text = {UPSERT} %}}{{{{ text }}}}", "a macro of a package is called in a block, and not in {{ }}"),
        (f"{{% if false %}}{{{{ {UPSERT} }}}}{{% endif %}}", "it is under a condition that no run fulfils"),
        (
            "{% for key in ['a', 'b'] %}{{ merge_patterns.gdpr_delete(ref('raw'), key) }};{% endfor %}",
            "a loop calls it, and it writes several texts",
        ),
        ("{{ merge_patterns.gdpr_delete(ref('raw').identifier, 'id') }}", "parts of a table's name"),
        ("{{ merge_patterns.gdpr_delete(target.schema ~ '.raw', 'id') }}", "its text depends on the target"),
        ("{{ merge_patterns.gdpr_delete(ref('raw'), where_prod()) }}", "may depend on a var, the target or"),
        ("{{ merge_patterns.gdpr_delete(ref('raw'), env_var('TOKEN')) }}", "holds an environment variable"),
        ("{{ merge_patterns.gdpr_delete(ref('raw'), var('keys')) }}", "depends on the var keys"),
        ("{{ merge_patterns.gdpr_delete(ref('raw'), var('unset', 'id')) }}", "depends on the var unset"),
        ("{{ merge_patterns.gdpr_delete(counted(), 'id') }}", "may depend on a var, the target or"),
        (
            "{% set to = 'a' if var('many') == 7 else 'b' %}{{ merge_patterns.gdpr_delete(ref(to), 'id') }}",
            "{% set to = 'a' if var('many') == 7 else 'b' %}",
        ),
        ("{{ merge_patterns.gdpr_delete(ref('raw'), 'a' if is_full_refresh else 'b') }}", "(a full refresh)"),
    ],
)
def test_what_cannot_be_kept_is_refused(text, reason):
    templates = Templates([SourceText("macros/m.sql", MACROS)])
    render = render_with(templates, {"keys": ["a"], "many": 2, "label": "x"})
    with pytest.raises(ProblemsError) as caught:
        eject(SourceText("models/m.sql", text), render, macros_of(templates))
    assert reason in caught.value.problems[0].message


def test_conditions_on_the_kind_of_run_are_kept():
    text = "{% if is_incremental() %}{{ merge_patterns.gdpr_delete(ref('raw'), var('key')) }}{% else %}x{% endif %}"
    written = eject(SourceText("models/m.sql", text), render_with(Templates(), {"key": "id"}), {})
    assert written.startswith(
        "{% if is_incremental() %}merge into {{ this }} as t\nusing (\n    select distinct {{ var("
    )


def test_what_a_macro_of_the_project_gives_keeps_its_var():
    templates = Templates([SourceText("macros/m.sql", MACROS)])
    source = SourceText("models/m.sql", "{{ merge_patterns.upsert(fixed(), 'id', 'name') }}\n")
    written = eject(source, render_with(templates, {"many": 2, "label": "it's"}), macros_of(templates))
    assert "from (select 1 as id, {{ var('label') | literal }} as name)" in written


def test_a_model_is_written_whole_with_its_line_ends(make_project):
    from merge_runner import Project

    call = "{{ merge_patterns.upsert(ref('raw'), 'id', 'name') }}\r\n-- the end\r\n"
    root = make_project({"seeds/raw.csv": "id,name\n1,a\n"})
    (root / "models").mkdir()
    model = root / "models/m.sql"
    model.write_bytes(call.encode())
    rendered = Project.load(root).compile()
    assert Project.load(root).eject("m") == model
    written = model.read_bytes()
    assert b"merge_patterns" not in written
    assert written.count(b"\n") == written.count(b"\r\n") > 8
    assert Project.load(root).compile() == rendered
    with pytest.raises(ProblemsError, match="there is nothing to eject"):
        Project.load(root).eject("m")
    with pytest.raises(ProblemsError, match='no model "mm"'):
        Project.load(root).eject("mm")
    assert model.read_bytes() == written
