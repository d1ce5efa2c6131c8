"""Unit tests of models on real Spark: what passes, what fails and how it is told."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from merge_runner import Project
from merge_runner.run.results.junit import junit
from tests.yaml_data import read_yaml

pytestmark = pytest.mark.spark

CASES = Path(__file__).parent / "unit_tests" / "models.yml"
NEWEST = """
    merge into {{ this }} as t
    using (
        select id, day, amount from {{ ref('orders') }}
        {% if is_incremental() %}where day > (select max(day) from {{ this }}){% endif %}
    ) as s on t.id = s.id
    when matched then update set * when not matched then insert *
    """
MODELS = {
    "orders": """
        merge into {{ this }} as t
        using {{ source('raw', 'orders') }} as s
            on t.id = s.id
        when matched and s.amount < 0 then delete
        when matched then update set day = s.day, amount = s.amount
        when not matched then insert (id, day, amount) values (s.id, s.day, s.amount)
        when not matched by source and t.day < current_date - 365 then delete
        """,
    "numbers": "select 1 as id",
    "in_place": """
        {{ config(materialized='ephemeral') }}
        select id, id * {{ var('factor', 1) }} as amount from {{ ref('numbers') }}
        """,
    "copied": """
        {{ config(format='iceberg', schema='copies', properties={'write.merge.mode': 'copy-on-write'}) }}
        merge into {{ this }} using {{ ref('in_place') }} as s on copied.id = s.id
        when matched then update set * when not matched then insert *
        """,
    "marked": """
        {{ config(format='iceberg', properties={'write.merge.mode': 'merge-on-read'}) }}
        merge into {{ this }} as t using {{ changes('orders') }} as s on t.id = s.id
        when matched and s._change_type = 'delete' then delete
        when not matched then insert (id, amount) values (s.id, int(s.amount))
        """,
    "kept": """
        {{ config(format='iceberg') }}
        merge into {{ this }} as t using {{ ref('in_place') }} as s on t.id - s.id = 0
        when not matched by source then delete
        """,
    "derived": """
        merge into {{ this }} as t
        using (select id, {{ moment() }} as at from {{ ref('orders') }}) as s on t.id = s.id
        when not matched then insert (id, happened_at, nested, exact) values
            (s.id, s.at, named_struct('a', 2, 'b', array({{ "'full'" if is_full_refresh else "'part'" }})), 0)
        """,
    "newest": NEWEST,
    "unread": """
        merge into {{ this }} as t
        using (
            select id, day, amount from (select *, row_number() over (partition by id order by day) as n from {{ ref('orders') }})
            where n = 1 and day > (select max(day) from {{ this }})
        ) as s on t.id = s.id
        when not matched then insert *
        """,
    "newest_of_iceberg": "{{ config(format='iceberg') }}" + NEWEST,
    "closes": """
        merge into {{ this }} as t
        using (select id, day from {{ ref('orders') }} union all select id, day from {{ this }} where id < 0) as s
            on t.id = s.id
        when not matched then insert *
        """,
    "loose": "select amount from {{ source('raw', 'undeclared') }}",
    "totals": "select sum(amount / (id / id)) as total from {{ ref('orders') }}",
}
FILES = {
    **{f"models/{name}.sql": text for name, text in MODELS.items()},
    "macros/moment.sql": "{% macro moment() %}current_timestamp{% endmacro %}",
    "tests/fixtures/seven_and_eight.csv": "id,amount\n8,1\n7,0.3\n",
    "profiles.yml": (
        "shop: {outputs: {dev: {master: 'local[2]', schema: shop, "
        "catalogs: {ice: {type: hadoop, warehouse: unused}}}}}\n"
    ),
}
TESTS = read_yaml(CASES)["unit_tests"]


@pytest.fixture(scope="module")
def tested(driver, tmp_path_factory):
    """All of them, run in one invocation: the project, and its results."""
    root = tmp_path_factory.mktemp("unit_tests")
    files = {**FILES, "models/models.yml": CASES.read_text(), "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n'}
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    project = Project.load(root)
    return project, project.test(driver=driver, threads=2)


@pytest.mark.parametrize("case", TESTS, ids=[case["name"] for case in TESTS])
def test_it_ends_as_it_says(tested, case):
    _, results = tested
    result = results[f"{case['model']}.{case['name']}"]
    meta = case.get("config", {}).get("meta", {})
    if "errs" in meta:
        assert result.status == "error"
        assert meta["errs"] in result.message.lower()
    elif "fails" in meta:
        assert result.status == "fail"
        assert meta["fails"] in result.message
        assert result.failures >= 1
    else:
        assert (result.status, result.message) == ("pass", "")
        assert result.adapter_response["differences"] == []


def test_nothing_of_them_is_left_behind(tested, spark):
    project, results = tested
    begun = f"unit_tests_{results.invocation_id[:8]}"
    assert not [row for row in spark.sql("SHOW SCHEMAS").collect() if begun in row[0]]
    assert not (project.prepared.files.root / "warehouse").exists()


def test_the_statement_that_ran_is_kept(tested):
    project, _ = tested
    texts = project.prepared.files.root / "target/run/shop/models/models.yml"
    text = (texts / "orders.the_clock_of_the_test_decides.sql").read_text()
    assert "t.day < DATE'2020-02-01' - 365" in text


def test_a_difference_is_data_too(tested):
    _, results = tested
    found = json.loads(json.dumps(results["orders.what is wrong is told by key"].adapter_response["differences"]))
    assert found == [
        {
            "missing": [{"id": 4, "amount": 4.0}],
            "unexpected": [{"id": 3, "amount": 3.0}],
            "changed": [{"key": {"id": 1}, "cells": {"amount": {"expected": 6.0, "actual": 5.0}}}],
        }
    ]


def test_ci_reads_them_as_junit(tested):
    project, results = tested
    root = ET.fromstring(junit(results, project.prepared.graph.nodes))
    suite = root.find("testsuite[@name='models/models.yml']")
    assert suite.get("tests") == str(len(TESTS))
    assert suite.get("errors") == "4"
    failure = suite.find("testcase[@name='orders.what is wrong is told by key']/failure")
    assert failure.get("message").startswith("the final target is not as expected")
    assert "~ id=1: amount: expected 6.0, is 5.0" in failure.text
