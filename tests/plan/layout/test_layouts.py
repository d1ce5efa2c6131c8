"""The layouts of a project's tables and what names mean: cases as data, and the lookup by name."""

from pathlib import Path

import pytest

from merge_runner.api import Project
from merge_runner.errors import ProblemsError
from merge_runner.plan.layout.layouts import Layouts
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "layouts.yml")
PROFILES = "shop: {outputs: {dev: {master: 'local[2]', schema: main}}}\n"
MERGE = "merge into {{ this }} as t using %s as s on t.id = s.id when not matched then insert *"


def layouts(make_project, files, layout=None):
    prepared = Project.load(make_project({"profiles.yml": PROFILES, **files})).prepared
    return Layouts.load(prepared, layout)


def unique_id(name):
    kinds = ("model.shop.", "seed.shop.", "source.shop.")
    return [kind + name for kind in kinds]


def shown(layout):
    def column(item):
        nullable = {True: " null", False: " not null", None: ""}[item.nullable]
        return f"{item.name} {item.data_type}{nullable}" + (f" = {item.generated}" if item.generated else "")

    def listed(items):
        return None if items is None else [str(item) for item in items]

    return {
        "format": layout.format,
        "columns": [column(item) for item in layout.columns or ()],
        "complete": layout.complete,
        "partition_by": listed(layout.partition_by),
        "cluster_by": listed(layout.cluster_by),
        "sort_by": listed(layout.sort_by),
        "statistics": listed(layout.statistics),
        "indexed": layout.indexed,
        "unique": [sorted(key) for key in layout.unique],
    }


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_a_table_is_laid_out_as_it_is_declared(make_project, case):
    found = layouts(make_project, case["files"])
    nodes = found._prepared.graph.nodes
    for name, expected in case["layouts"].items():
        node = next(each for each in unique_id(name) if each in nodes)
        told = shown(found.of(node))
        assert {key: told[key] for key in expected} == expected, name


@pytest.mark.parametrize(
    ("parts", "known"),
    [
        (("main", "m"), True),
        (("MAIN", "M"), True),
        (("m",), True),
        (("spark_catalog", "main", "m"), True),
        (("lake", "main", "m"), False),
        (("other", "m"), False),
        (("elsewhere",), False),
        (("main_x", "far"), True),
        (("far",), False),
        (("raw", "a"), True),
        (("a",), False),
        (("lake", "db", "b"), True),
        (("db", "b"), False),
        (("main", "e"), False),
        ((), False),
        (("a", "b", "c", "d"), False),
    ],
)
def test_a_name_means_a_table_as_the_session_completes_it(make_project, parts, known):
    found = layouts(
        make_project,
        {
            "models/m.sql": MERGE % "x",
            "models/far.sql": "{{ config(schema='x') }}" + MERGE % "x",
            "models/e.sql": "{{ config(materialized='ephemeral') }} select 1 as id",
            "models/s.yml": "sources: [{name: raw, tables: [{name: a}, {name: b, catalog: lake, schema: db}]}]",
        },
    )
    assert (found.lookup(parts) is not None) is known


def test_the_default_catalog_may_be_another(make_project):
    profiles = PROFILES.replace("schema: main", "schema: main, conf: {spark.sql.defaultCatalog: lake}")
    found = layouts(make_project, {"profiles.yml": profiles, "models/m.sql": MERGE % "x"})
    assert found.lookup(("lake", "main", "m")) is not None
    assert found.lookup(("spark_catalog", "main", "m")) is None


def test_a_view_is_found_with_its_query(make_project):
    found = layouts(make_project, {"models/v.sql": "{{ config(unique_key='id') }}\nselect 1 as id; -- done"})
    known = found.lookup(("main", "v"))
    assert known.query == "select 1 as id"
    assert known.layout.unique == (frozenset({"id"}),)


def test_a_change_feed_has_the_columns_of_its_table_and_three_more_and_no_keys(make_project):
    source = "(select * from {{ changes('stg') }} where _change_type <> 'delete')"
    found = layouts(
        make_project,
        {
            "models/stg.sql": "{{ config(unique_key='id', partition_by='id') }}" + MERGE % "x",
            "models/m.yml": "models: [{name: stg, columns: [{name: id, data_type: int, data_tests: [not_null]}]}]",
            "models/m.sql": MERGE % source,
        },
    )
    known = found.lookup(("CHANGES_OF_stg",))
    assert (known.query, known.fixed) == (None, True)
    told = shown(known.layout)
    assert told["columns"] == [
        "id int",
        "_change_type string not null",
        "_commit_version bigint not null",
        "_commit_timestamp timestamp not null",
    ]
    assert (told["complete"], told["unique"], told["format"], told["partition_by"]) == (True, [], None, None)
    assert found.lookup(("main", "changes_of_stg")) is None
    assert found.lookup(("changes_of_m",)) is None


def test_an_ephemeral_model_is_found_by_the_query_that_stands_for_it(make_project):
    found = layouts(
        make_project,
        {
            "models/inner.sql": "{{ config(materialized='ephemeral') }} select 1 as id",
            "models/e.sql": "{{ config(materialized='ephemeral', unique_key='Id') }}\n"
            "select * from {{ ref('inner') }} -- tail",
            "models/e.yml": "models: [{name: e, columns: [{name: id, data_tests: [not_null]}]}]",
            "models/m.sql": MERGE % "{{ ref('e') }}",
        },
    )
    query = found._compiler.parse_merge("model.shop.m").source.query
    for known in (found.inlined(query.expression), found.inlined(query.text), found.lookup((f"({query.text})",))):
        assert known.layout.unique == (frozenset({"id"}),)
        assert known.layout.column("ID").nullable is False
    assert found.inlined("(select 2 as id)") is None
    assert found.lookup(("(select 2 as id)",)) is None


@pytest.mark.parametrize(
    "source", ["{{ this }}", "(select * from {{ this }})", "(select * from main.w)", "{{ ref('w') }}", "nowhere"]
)
def test_a_table_that_is_made_of_itself_or_of_nothing_known_is_unknown(make_project, source):
    found = layouts(
        make_project,
        {
            "models/m.sql": MERGE % source,
            "models/w.sql": "{{ config(materialized='view') }} select * from main.m",
        },
    )
    layout = found.of("model.shop.m")
    assert (layout.columns, layout.complete, layout.partition_by) == (None, False, ())
    assert found.of("model.shop.m") is layout


def test_text_that_cannot_be_rendered_or_parsed_is_no_error_here(make_project):
    found = layouts(
        make_project, {"models/m.sql": "merge into {{ this }} nonsense", "models/v.sql": "select 1; select 2"}
    )
    assert found.of("model.shop.m").columns is None
    assert found.lookup(("main", "v")).query is None


def test_the_file_of_the_command_line_counts_before_the_recorded_catalog(make_project, tmp_path):
    other = tmp_path / "layout.json"
    other.write_text('{"version": 1, "tables": [{"name": "x.y", "format": "iceberg"}]}')
    catalog = "version: 1\ntables: [{name: x.y, format: delta}, {name: x.z, format: delta}]\n"
    found = layouts(make_project, {"catalog.yml": catalog, "models/m.sql": MERGE % "x"}, other)
    assert found.lookup(("x", "Y")).layout.format == "iceberg"
    assert found.lookup(("x", "z")).layout.format == "delta"


def test_a_catalog_with_mistakes_tells_them(make_project):
    with pytest.raises(ProblemsError, match="unknown key"):
        layouts(
            make_project, {"catalog.yml": "version: 1\ntables: [{name: x, colums: []}]\n", "models/m.sql": MERGE % "x"}
        )


def test_a_test_does_not_make_a_target_not_null(make_project):
    found = layouts(
        make_project,
        {
            "models/m.sql": "merge into {{ this }} t using (select 1 as id, 2 as k) s on t.id = s.id when matched then delete",
            "models/m.yml": """
                version: 2
                models:
                  - name: m
                    columns:
                      - {name: id, data_type: bigint, data_tests: [not_null]}
                      - {name: k, data_type: int, constraints: [{type: not_null}], data_tests: [not_null]}
            """,
        },
    )
    columns = {column.name: column.nullable for column in found.target("model.shop.m").columns}
    assert columns == {"id": True, "k": False}
    assert [column.nullable for column in found.of("model.shop.m").columns] == [False, False]
