"""`adapter.get_columns_in_relation`: the columns that text and YAML say, and the macros that packages make of it."""

import pytest

from merge_runner import Project
from merge_runner.errors import ProblemsError

MACROS = """
    {% macro star(from, except=[]) -%}
        {%- if not (from is mapping and from.get('metadata', {}).get('type', '').endswith('Relation')) -%}
            {% do exceptions.raise_compiler_error('no relation: ' ~ from) %}
        {%- endif -%}
        {%- set found = [] -%}
        {%- for column in adapter.get_columns_in_relation(from) if column.column | lower not in except -%}
            {%- do found.append(column.quoted) -%}
        {%- endfor -%}
        {{ return(found | join(', ')) }}
    {%- endmacro %}

    {% macro union_relations(relations) -%}
        {%- set all, columns = {}, {} -%}
        {%- for relation in relations -%}
            {%- do columns.update({relation: []}) -%}
            {%- for column in adapter.get_columns_in_relation(relation) -%}
                {%- do columns[relation].append(column.column) -%}
                {%- if column.column not in all -%}{%- do all.update({column.column: column}) -%}{%- endif -%}
            {%- endfor -%}
        {%- endfor -%}
        {%- if not all -%}{% do exceptions.raise_compiler_error('no columns') %}{%- endif -%}
        {%- for relation in relations %}
        select {% for name, column in all.items() -%}
            cast({{ name if name in columns[relation] else 'null' }} as {{ column.data_type }}) as {{ name }}
            {%- if not loop.last %}, {% endif %}
        {%- endfor %} from {{ relation }}
        {% if not loop.last %}union all{% endif %}
        {%- endfor %}
    {%- endmacro %}
"""
FILES = {
    "macros/all.sql": MACROS,
    "models/all.yml": """
        version: 2
        sources: [{name: raw, tables: [{name: event, path: e.json, format: json,
            columns: [{name: id, data_type: bigint}, {name: Kind, data_type: varchar(9)}]}, {name: other}]}]
        models:
          - {name: fct, columns: [{name: id, data_type: bigint}, {name: price, data_type: "decimal(10, 2)"}]}
    """,
    "seeds/colours.csv": "id,name\n1,red\n",
    "models/stg.sql": "select id, cast(kind as string) as kind, count(*) over () as n from {{ source('raw', 'event') }}",
    "models/inlined.sql": "{{ config(materialized='ephemeral') }} select {{ star(ref('stg'), ['n']) }} from {{ ref('stg') }}",
    "models/fct.sql": """
        merge into {{ this }} t using (select 1L as id, 2.50 as price) s on t.id = s.id
        when matched then update set price = s.price when not matched then insert *
    """,
}


@pytest.fixture
def text(make_project):
    def compiled(template):
        project = Project.load(make_project({**FILES, "models/m.sql": template}))
        return " ".join(project.compile("m")["model.shop.m"].split()).replace(
            project.prepared.files.profile.schema, "shop"
        )

    return compiled


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("select {{ star(ref('stg')) }} from x", "select id, kind, n from x"),
        ("select {{ star(source('raw', 'event')) }} from x", "select id, Kind from x"),
        ("select {{ star(ref('inlined')) }} from x", "select id, kind from x"),
        ("select {{ star(ref('fct'), ['id']) }} from x", "select price from x"),
        ("select {{ star(ref('colours')) }} from x", "select id, name from x"),
        (
            "{{ union_relations([ref('fct'), source('raw', 'event')]) }}",
            "select cast(id as bigint) as id, cast(price as decimal(10,2)) as price, cast(null as varchar(9)) as Kind "
            "from shop.fct union all select cast(id as bigint) as id, cast(null as decimal(10,2)) as price, "
            "cast(Kind as varchar(9)) as Kind from raw.event",
        ),
        (
            "select {{ (adapter.get_columns_in_relation(source('raw', 'event')) | last).string_size() }} as n",
            "select 9 as n",
        ),
        (
            "select {{ adapter.get_columns_in_relation(ref('fct')) | map(attribute='data_type') | join(' ') }}",
            "select bigint decimal(10,2)",
        ),
    ],
)
def test_columns(text, template, expected):
    assert text(template) == expected


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("select {{ star(source('raw', 'other')) }} from x", "not all columns of raw.other are known without Spark"),
        ("select {{ star('x') }} from x", "no relation: x"),
        ("select {{ adapter.get_columns_in_relation('x') }}", "only ref, source and this have columns, not x"),
        ("select {{ star(this) }} from {{ ref('fct') }}", "not all columns of m are known"),
        (
            "select {{ adapter.get_columns_in_relation(ref('stg'))[0].string_size() }} from x",
            "the column id is no text",
        ),
    ],
)
def test_what_is_not_known(text, template, message):
    with pytest.raises(ProblemsError, match=message) as raised:
        text(template)
    assert raised.value.problems[0].place.path in ("models/m.sql", "macros/all.sql")


def test_the_columns_of_this_are_those_that_are_declared(make_project):
    merge = """
        merge into {{ this }} t using (select {{ star(this) }} from {{ source('raw', 'event') }}) s on t.id = s.id
        when not matched then insert *
    """
    columns = "models: [{name: m, columns: [{name: id, data_type: bigint}, {name: at, data_type: date}]}]"
    project = Project.load(make_project({**FILES, "models/m.sql": merge, "models/m.yml": columns}))
    assert "select id, at from" in project.compile("m")["model.shop.m"]
    assert project.lint("m").merges[0].model == "m"


def test_a_kept_capture_has_the_refs_and_lint_follows_the_columns(make_project):
    root = make_project({**FILES, "models/m.sql": "select {{ star(ref('stg')) }} from {{ ref('stg') }}"})
    for column in ("n", "amount"):
        stg = root / "models/stg.sql"
        stg.write_text(stg.read_text().replace(" as n ", f" as {column} "))
        project = Project.load(root)
        assert project.graph.nodes["model.shop.m"].depends_on == ("model.shop.stg",)
        assert f"kind, {column} from" in project.compile("m")["model.shop.m"]
        project.lint()
