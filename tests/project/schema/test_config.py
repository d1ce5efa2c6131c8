"""The config of a model and how its layers come together."""

from __future__ import annotations

import json
from datetime import date

import pytest

from merge_runner.errors import Problems
from merge_runner.project.schema.config import Contract, ModelConfig, Optimize
from merge_runner.project.schema.config_layers import Layer, config_key, resolve
from merge_runner.text import Place


def resolved(*layers, what="model a"):
    problems = Problems()
    config = resolve([Layer(layer, {}) for layer in layers], problems, what)
    assert [str(problem) for problem in problems] == []
    return config


def problems_of(values, what="model a", placed=True):
    """The messages about a layer whose keys stand in lines 1, 2, …"""
    problems = Problems()
    places = {key: Place("a.sql", line, 1) for line, key in enumerate(values, 1)} if placed else {}
    resolve([Layer(values, places)], problems, what)
    return [str(problem) for problem in problems]


def test_nothing_said_is_all_defaults():
    assert resolved() == ModelConfig()
    assert ModelConfig().materialized is None
    assert ModelConfig().on_error == "skip_children"
    assert ModelConfig().bounds == "auto"


def test_a_later_layer_replaces_an_earlier_one():
    assert resolved({"format": "delta", "schema": "a"}, {"format": "iceberg"}) == ModelConfig(
        format="iceberg", schema="a"
    )


def test_none_sets_back_to_the_default():
    assert resolved({"schema": "a", "tags": "x"}, {"schema": None, "tags": None}) == ModelConfig()


def test_tags_and_hooks_add_up_and_mappings_merge_by_key():
    config = resolved(
        {"+tags": ["a", "b"], "pre_hook": "select 1", "meta": {"x": 1, "y": 1}, "properties": {"p": "1"}},
        {"tags": "b", "pre_hook": ["select 1", "select 2"], "meta": {"y": 2}, "conf": {"c": "1"}},
        {"tags": ["c"], "properties": {"p": "2", "q": "3"}},
    )
    assert config.tags == ("a", "b", "c")
    assert config.pre_hook == ("select 1", "select 1", "select 2")
    assert config.meta == {"x": 1, "y": 2}
    assert config.properties == {"p": "2", "q": "3"}
    assert config.conf == {"c": "1"}


@pytest.mark.parametrize(
    ("key", "written", "value"),
    [
        ("unique_key", "id", ("id",)),
        ("partition_by", ["days(ts)", "bucket(8, id)"], ("days(ts)", "bucket(8, id)")),
        ("bounds", False, "off"),
        ("bounds", "auto", "auto"),
        ("bounds", ["d"], ("d",)),
        ("timeout", 90, 90.0),
        ("timeout", "30s", 30.0),
        ("timeout", "1.5m", 90.0),
        ("timeout", "1h", 3600.0),
        ("timeout", "1d", 86400.0),
        ("properties", {"a": True, "b": 3, "c": 1.5}, {"a": "true", "b": "3", "c": "1.5"}),
        ("begin", date(2026, 1, 31), "2026-01-31"),
        ("begin", "2026-01-31 18:00", "2026-01-31 18:00"),
        ("concurrent_batches", True, "on"),
        ("concurrent_batches", False, "off"),
        ("concurrent_batches", "auto", "auto"),
        ("optimize", True, True),
        ("optimize", {"zorder_by": "id"}, Optimize(zorder_by=("id",))),
        ("optimize", {"after": 10}, Optimize(after=10)),
        ("full_refresh", False, False),
        ("retries", 0, 0),
        ("priority", -3, -3),
        ("pre_hook", {"sql": "select 1", "transaction": False}, ("select 1",)),
        ("+post-hook", ["select 1", {"sql": "select 2"}], ("select 1", "select 2")),
        ("contract", {"enforced": True, "alias_types": False}, Contract(True, False)),
    ],
)
def test_a_value_is_read_in_each_of_its_forms(key, written, value):
    assert getattr(resolved({key: written}), config_key(key)) == value


def test_a_config_is_plain_json():
    config = resolved({"meta": {"since": date(2013, 1, 1)}, "bounds": ["d"], "optimize": {"where": "d > 1"}})
    plain = config.as_json()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["meta"] == {"since": "2013-01-01"}
    assert plain["bounds"] == ["d"]
    assert plain["optimize"] == {"zorder_by": [], "where": "d > 1", "after": None}
    keys = "materialized format schema alias partition_by cluster_by unique_key bounds scan properties conf tags meta"
    more = (
        "enabled event_time pre_hook post_hook on_error full_refresh optimize priority retries timeout concurrent reuse"
    )
    assert set(plain) == {
        *keys.split(),
        *more.split(),
        *("batch_size", "begin", "lookback", "concurrent_batches", "batches_at_once", "late_rows"),
        *("on_schema_change", "contract", "docs", "group", "access"),
        "expect_merge",
        "build_after",
        "low_shuffle",
        "storage_join",
        "sort_by",
        "column_types",
        "delimiter",
    }


@pytest.mark.parametrize(
    ("values", "messages"),
    [
        (
            {"partiton_by": ["d"], "materialised": "view"},
            [
                'a.sql:1:1: unknown config key "partiton_by" [unknown-key]\n    did you mean "partition_by"?',
                'a.sql:2:1: unknown config key "materialised" [unknown-key]\n    did you mean "materialized"?',
            ],
        ),
        (
            {"materialized": "tabel"},
            [
                'a.sql:1:1: "materialized" must be "merge", "table", "view" or "ephemeral", not "tabel" '
                "[invalid-value]\n"
                '    did you mean "table"?'
            ],
        ),
        ({"incremental_strategy": "merge"}, [
            'a.sql:1:1: unknown config key "incremental_strategy" [unknown-key]\n'
            "    leave it out: the MERGE that you write is the strategy"
        ]),
        *(
            ({key: value}, [
                f'a.sql:1:1: unknown config key "{key}" [unknown-key]\n'
                "    take it out: `low_shuffle: true` has the table mark the rows that change and copy no others"
            ])
            for key, value in {"skip_unchanged": True, "skip-unchanged": "equal_rows"}.items()
        ),
        ({"columns": []}, [
            'a.sql:1:1: unknown config key "columns" [unknown-key]\n    it is written next to "config", not in it'
        ]),
        ({"delimiter": ";"}, ['a.sql:1:1: unknown config key "delimiter" [unknown-key]\n    only seeds have it']),
        ({"enabled": "no"}, [
            'a.sql:1:1: "enabled" must be true or false, not "no" [invalid-value]\n'
            "    write true or false: these are the only booleans"
        ]),
        ({"begin": "soon"}, [
            'a.sql:1:1: "begin" must be a time such as 2026-01-31 or 2026-01-31 18:00:00, not "soon" [invalid-value]'
        ]),
        ({"batches_at_once": 0}, ['a.sql:1:1: "batches_at_once" must be at least 1, not 0 [invalid-value]']),
        ({"retries": -1}, ['a.sql:1:1: "retries" must be at least 0, not -1 [invalid-value]']),
        ({"retries": True}, ['a.sql:1:1: "retries" must be a whole number, not true [invalid-value]']),
        ({"priority": "1"}, ['a.sql:1:1: "priority" must be a whole number, not "1" [invalid-value]']),
        ({"timeout": "5 parsecs"}, [
            'a.sql:1:1: "timeout" must be a number of seconds above 0, or a text such as "30s", "5 minutes" or "1h", '
            'not "5 parsecs" [invalid-value]'
        ]),
        ({"timeout": 0}, [
            'a.sql:1:1: "timeout" must be a number of seconds above 0, or a text such as "30s", "5 minutes" or "1h", '
            "not 0 [invalid-value]"
        ]),
        ({"bounds": "outo"}, [
            'a.sql:1:1: "bounds" must be "auto" or "off" or a list, not "outo" [invalid-value]\n'
            '    did you mean "auto"?'
        ]),
        ({"reuse": "partitions"}, [
            'a.sql:1:1: "reuse" must be "auto" or "off", not "partitions" [invalid-value]\n'
            "    take it out: it is withdrawn, as it left out changed rows; `auto` is the default"
        ]),
        ({"bounds": ["d", {}]}, ['a.sql:1:1: an entry of "bounds" must be text, not a mapping [invalid-value]']),
        ({"tags": {"a": 1}}, ['a.sql:1:1: "tags" must be a list, not a mapping [invalid-value]']),
        ({"conf": {"spark.x": None}}, ['a.sql:1:1: "conf.spark.x" must be text, not empty [invalid-value]']),
        ({"optimize": {"zorder": "id"}}, [
            'a.sql:1:1: unknown key "zorder" [unknown-key]\n    did you mean "zorder_by"?'
        ]),
        ({"optimize": {"after": 0}}, ['a.sql:1:1: "optimize.after" must be at least 1, not 0 [invalid-value]']),
        ({"optimize": "always"}, [
            'a.sql:1:1: "optimize" must be true or false or a mapping, not "always" [invalid-value]'
        ]),
        ({"pre-hook": "a", "+pre_hook": "b"}, [
            'a.sql:2:1: the config key "pre_hook" is set twice, as "pre-hook" and as "+pre_hook" [duplicate-key]\n'
            "    keep one of them"
        ]),
        ({"pre-hook": [{"sql": "a", "when": "b"}]}, [
            'a.sql:1:1: an entry of "pre_hook" must be text, not a mapping [invalid-value]'
        ]),
        ({"tags": "a", "+tags": "b"}, [
            'a.sql:2:1: the config key "tags" is set twice, as "tags" and as "+tags" [duplicate-key]\n'
            "    keep one of them"
        ]),
    ],
)  # fmt: skip
def test_a_problem_stands_at_its_key(values, messages):
    assert problems_of(values) == messages


def test_config_without_places_names_whose_it_is():
    assert problems_of({"retires": 1, "scan": "all"}, placed=False) == [
        'model a: unknown config key "retires" [unknown-key]\n    did you mean "retries"?',
        'model a: "scan" must be "bounded" or "full", not "all" [invalid-value]',
    ]


def test_seeds_have_keys_of_their_own():
    config = resolved({"delimiter": ";", "column_types": {"zip": "string"}}, what="seed a")
    assert (config.delimiter, config.column_types) == (";", {"zip": "string"})
