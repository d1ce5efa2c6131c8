"""Layouts of a dbt project: a manifest that dbt 1.11 wrote (trimmed), and what other versions and accidents leave."""

import json
from pathlib import Path

import pytest

from merge_runner.errors import Problems
from merge_runner.lint.dbt.project import read_dbt_project, target_folder

TARGET = Path(__file__).parent / "dbt_target"
ORDERS = TARGET / "run/shop/models/orders.sql"


@pytest.fixture
def project():
    problems = Problems()
    found = read_dbt_project(TARGET, problems)
    assert not list(problems)
    return found


def shown(layout):
    """A layout in one line for each thing that is known."""
    columns = [
        f"{column.name} {column.data_type}" + {True: " null", False: " not null", None: ""}[column.nullable]
        for column in layout.columns or ()
    ]
    return {
        "format": layout.format,
        "columns": columns,
        "complete": layout.complete,
        "partition_by": None if layout.partition_by is None else [str(item) for item in layout.partition_by],
        "cluster_by": layout.cluster_by,
        "unique": [sorted(key) for key in layout.unique],
    }


def test_the_target_folder_of_a_file_has_the_manifest_beside_run(tmp_path):
    assert target_folder(ORDERS) == TARGET
    assert target_folder(TARGET / "run") == TARGET
    assert target_folder(tmp_path / "run/x.sql") is None


@pytest.mark.parametrize(
    ("name", "layout"),
    [
        (
            "orders",
            {
                "format": "delta",
                "columns": ["id bigint null", "dt date not null", "amount decimal(10,2) null"],
                "complete": False,
                "partition_by": ["dt"],
                "cluster_by": (),
                "unique": [["dt", "id"]],
            },
        ),
        (
            "events",
            {
                "format": "iceberg",
                "columns": [],
                "complete": False,
                "partition_by": ["days(ts)"],
                "cluster_by": (),
                "unique": [["id"]],
            },
        ),
        (
            "Clustered",
            {
                "format": "delta",
                "columns": ["id bigint null"],
                "complete": False,
                "partition_by": [],
                "cluster_by": (),
                "unique": [["id"]],
            },
        ),
        (
            "evo",
            {
                "format": "delta",
                "columns": ["id bigint not null", "event day date null"],
                "complete": True,
                "partition_by": [],
                "cluster_by": (),
                "unique": [["id"]],
            },
        ),
    ],
)
def test_a_table_is_laid_out_as_its_config_creates_it(project, name, layout):
    known = project.lookup(project.node(ORDERS))(("SHOP", name))
    assert shown(known.layout) == layout
    assert known.query is None


def test_properties_say_which_columns_have_statistics(project):
    assert project.lookup(project.node(ORDERS))(("shop", "orders")).layout.indexed == 2


def test_a_test_with_a_where_proves_nothing_and_a_view_has_its_query(project):
    known = project.lookup(project.node(ORDERS))(("shop", "stg_orders"))
    assert known.query.strip() == "select * from raw.events"
    assert known.layout.unique == (frozenset({"id"}),)  # its unique_key alone
    assert known.layout.format is None


def test_a_source_is_known_as_far_as_it_is_declared(project):
    layout = project.lookup(project.node(ORDERS))(("spark_catalog", "raw", "events")).layout
    assert shown(layout)["columns"] == ["id bigint not null"]
    assert (layout.complete, layout.partition_by, layout.unique) == (False, None, (frozenset({"id"}),))


def test_the_temporary_view_of_a_merge_is_the_compiled_query_of_its_model(project):
    orders = project.node(ORDERS)
    known = project.lookup(orders, project.last_rows(orders))(("orders__dbt_tmp",))
    assert known.query == "\nselect id, dt, amount from shop.stg_orders\n where dt > '2024-01-01' "
    assert known.layout.unique == ()
    assert project.lookup(project.node(TARGET / "run/shop/models/evo.sql"))(("orders__dbt_tmp",)) is None


def test_a_file_belongs_to_its_node(project):
    assert project.node(ORDERS).name == "orders"
    assert project.node(TARGET / "run/shop/models/nope.sql") is None
    assert project.node(TARGET / "compiled/shop/models/orders.sql") is None


def test_what_is_not_in_the_project_is_unknown(project):
    assert project.lookup(project.node(ORDERS))(("shop", "nope")) is None
    assert project.lookup(project.node(ORDERS))(("orders",)) is None


def manifest(**node):
    base = {
        "resource_type": "model",
        "name": "m",
        "package_name": "p",
        "original_file_path": "models\\m.sql",
        "relation_name": "`db`.`s`.`m`",
        "config": {"materialized": "incremental"},
    }
    return {"metadata": {"adapter_type": "databricks"}, "nodes": {"model.p.m": {**base, **node}}}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, ("delta", [], ())),
        ({"file_format": "parquet"}, (None, [], ())),
        ({"table_format": "iceberg"}, (None, [], ())),
        ({"partition_by": "dt", "liquid_clustered_by": ["a", "b"]}, ("delta", ["dt"], ("a", "b"))),
        ({"partition_by": {"field": "dt"}}, ("delta", None, ())),
        ({"auto_liquid_cluster": True}, ("delta", [], None)),
    ],
)
def test_databricks_has_its_own_defaults(tmp_path, config, expected):
    text = json.dumps(manifest(config={"materialized": "incremental", **config}))
    (tmp_path / "manifest.json").write_text(text)
    found = read_dbt_project(tmp_path, Problems())
    layout = found.node(tmp_path / "run/p/models/m.sql").layout
    partitions = None if layout.partition_by is None else [str(item) for item in layout.partition_by]
    assert (layout.format, partitions, layout.cluster_by) == expected
    assert found.lookup(None)(("DB", "s", "m")).layout == layout


def test_tests_of_an_old_manifest_have_no_attached_node(tmp_path):
    content = manifest(columns={"id": {"name": "id"}})
    content["nodes"]["test.p.t"] = {
        "resource_type": "test",
        "config": {"severity": "ERROR"},
        "test_metadata": {"name": "not_null", "kwargs": {"column_name": "id"}},
        "depends_on": {"nodes": ["model.p.m"]},
    }
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    layout = read_dbt_project(tmp_path, Problems()).node(tmp_path / "run/p/models/m.sql").layout
    assert layout.column("ID").nullable is False


@pytest.mark.parametrize("key", ["expression(a)", "a || b", ""])
def test_a_unique_key_that_is_no_column_is_no_key(tmp_path, key):
    (tmp_path / "manifest.json").write_text(
        json.dumps(manifest(config={"materialized": "incremental", "unique_key": key}))
    )
    assert read_dbt_project(tmp_path, Problems()).node(tmp_path / "run/p/models/m.sql").layout.unique == ()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"nodes": 3}', "\x00", "[" * 100_000, "\udcff"])
def test_a_broken_manifest_is_a_problem_and_leaves_an_empty_project(tmp_path, text):
    (tmp_path / "manifest.json").write_bytes(text.encode(errors="surrogateescape"))
    problems = Problems()
    project = read_dbt_project(tmp_path, problems)
    assert [problem.code for problem in problems] == ["unreadable"]
    assert project.lookup(None)(("s", "m")) is None


@pytest.mark.parametrize(
    "node",
    [
        {"config": None, "columns": 3},
        {"columns": {"a": None}, "relation_name": 7, "alias": None, "schema": 5},
        {"config": {"materialized": [], "partition_by": 5, "tblproperties": "x", "unique_key": {"a": 1}}},
        {"constraints": {"type": "unique"}, "columns": {"a": {"constraints": 1, "data_type": 5}}},
        {"relation_name": "`x", "package_name": None, "original_file_path": None},
    ],
)
def test_a_node_of_another_shape_is_unknown_and_no_error(tmp_path, node):
    (tmp_path / "manifest.json").write_text(json.dumps(manifest(**node)))
    problems = Problems()
    assert read_dbt_project(tmp_path, problems).target == tmp_path
    assert not list(problems)
