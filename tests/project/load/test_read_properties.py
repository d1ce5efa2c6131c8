"""Property files: what they say, and what is wrong with them."""

from __future__ import annotations

import datetime
from textwrap import dedent

import pytest

from merge_runner.errors import Problems, ProblemsError
from merge_runner.project.load.read_properties import read_properties
from merge_runner.project.schema.freshness import Freshness, Threshold
from merge_runner.project.schema.properties import (
    Column,
    Constraint,
    Contract,
    DataTest,
    MacroProperties,
    ModelProperties,
    PropertyFile,
    Source,
    SourceConfig,
    SourceTable,
)
from merge_runner.project.schema.stream import Stream, Watermark
from merge_runner.project.schema.unit_test import Expect, Given, Overrides, UnitTest, UnitTestConfig
from merge_runner.project.syntax.yaml_tree import yaml_tree
from merge_runner.text import Place, SourceText


def read(text):
    problems = Problems()
    tree = yaml_tree(SourceText("m.yml", dedent(text)), problems)
    found = read_properties(tree, problems)
    return found, [str(problem) for problem in ProblemsError(problems).problems]


def clean(text):
    found, problems = read(text)
    assert problems == []
    return found


def test_an_empty_file_and_empty_keys_say_nothing():
    assert clean("") == PropertyFile()
    assert clean("version: 2\nmodels:\nsources:\n") == PropertyFile()
    assert clean("models:\n  - name: a\n    description:\n    columns:\n    data_tests:\n    meta:\n") == PropertyFile(
        models=(ModelProperties("a"),)
    )


def test_a_model_with_everything():
    assert clean("""\
        version: 2
        models:
          - name: fct
            description: 1.10
            config: {materialized: table}
            tags: nightly
            meta: {owner: me}
            docs: {node_color: red}
            contract: {enforced: true}
            constraints: [{type: primary_key, columns: [id]}]
            data_tests: [unique_combination_of_columns: {columns: [a, b]}]
            columns:
              - name: 2013
                data_type: bigint
                constraints:
                  - type: not_null
                  - {type: custom, expression: generated always as (1)}
                tests: [not_null]
                quote: true
        """).models == (
        ModelProperties(
            "fct",
            description="1.10",
            config={"materialized": "table"},
            tags=("nightly",),
            meta={"owner": "me"},
            docs={"node_color": "red"},
            contract=Contract(enforced=True),
            constraints=(Constraint("primary_key", columns=("id",)),),
            data_tests=(DataTest("unique_combination_of_columns", {"columns": ["a", "b"]}),),
            columns=(
                Column(
                    "2013",
                    data_type="bigint",
                    constraints=(Constraint("not_null"), Constraint("custom", "generated always as (1)")),
                    data_tests=(DataTest("not_null"),),
                    quote=True,
                ),
            ),
        ),
    )


def test_a_source_with_everything():
    assert clean("""\
        sources:
          - name: raw
            database: lake
            schema: landing
            config: {tags: [a]}
            tables:
              - name: flight
                path: data/flights.csv
                format: csv
                options: {header: true, maxColumns: 010, nullValue: NA}
                partition_by: []
                cluster_by: day
                freshness: {warn_after: {count: 1, period: day}}
                loaded_at_field: at
                stream: {trigger: 5 minutes, options: {maxFilesPerTrigger: 1}, watermark: {column: at, delay: 1h}}
                properties: {delta.appendOnly: true}
                columns: [{name: carrier, data_type: string, data_tests: [unique]}]
        """).sources == (
        Source(
            "raw",
            catalog="lake",
            schema="landing",
            config=SourceConfig(tags=("a",)),
            tables=(
                SourceTable(
                    "flight",
                    path="data/flights.csv",
                    format="csv",
                    options={"header": "true", "maxColumns": "010", "nullValue": "NA"},
                    partition_by=(),
                    cluster_by=("day",),
                    freshness=Freshness(warn_after=Threshold(1, "day")),
                    loaded_at_field="at",
                    stream=Stream(
                        trigger=300.0, options={"maxFilesPerTrigger": "1"}, watermark=Watermark("at", 3600.0)
                    ),
                    properties={"delta.appendOnly": "true"},
                    columns=(Column("carrier", data_type="string", data_tests=(DataTest("unique"),)),),
                ),
            ),
        ),
    )


def test_a_unit_test_with_everything():
    found = clean("""\
        unit_tests:
          - name: late_wins
            model: fct
            description: A late one wins.
            config: {tags: [slow], enabled: false}
            overrides: {vars: {from: 2013-01-01}, macros: {f: 1}, env_vars: {N: 4}, current_date: 2013-01-02}
            given:
              - {input: this, rows: [{day: 2013-01-01, carrier: NO, delay: 5, code: 007}]}
              - {input: ref('stg'), format: csv, rows: "a,b"}
              - {input: "source('raw', 'x')", format: sql, fixture: some_rows}
            expect:
              rows: []
              changes: [{_change_type: insert}]
        """)
    assert found.unit_tests == (
        UnitTest(
            "late_wins",
            "fct",
            description="A late one wins.",
            config=UnitTestConfig(tags=("slow",), enabled=False),
            overrides=Overrides(
                vars={"from": datetime.date(2013, 1, 1)},
                macros={"f": 1},
                env_vars={"N": "4"},
                current_date=datetime.date(2013, 1, 2),
            ),
            given=(
                Given("this", ({"day": datetime.date(2013, 1, 1), "carrier": "NO", "delay": 5, "code": "007"},)),
                Given("ref('stg')", "a,b", "csv"),
                Given("source('raw', 'x')", format="sql", fixture="some_rows"),
            ),
            expect=Expect(rows=(), changes=({"_change_type": "insert"},)),
        ),
    )


def test_macros_are_described():
    assert clean("macros: [{name: m, description: d, arguments: [{name: x, type: string}]}]").macros == (
        MacroProperties("m", "d", ({"name": "x", "type": "string"},)),
    )


@pytest.mark.parametrize(
    ("written", "test"),
    [
        ("not_null", DataTest("not_null")),
        ("{unique: }", DataTest("unique")),
        ("{accepted_values: {values: [a, 1.5]}}", DataTest("accepted_values", {"values": ["a", 1.5]})),
        (
            "{accepted_values: {arguments: {values: [a], quote: false}, config: {severity: WARN, where: x > 1}}}",
            DataTest("accepted_values", {"values": ["a"], "quote": False}, severity="warn", where="x > 1"),
        ),
        (
            "{relationships: {to: ref('dim'), field: id, severity: warn, limit: 5, tags: t}}",
            DataTest("relationships", {"to": "ref('dim')", "field": "id"}, severity="warn", limit=5, tags=("t",)),
        ),
        (
            "{test_name: expression_is_true, name: is_small, description: d, expression: x < 1, store_failures: true}",
            DataTest("expression_is_true", {"expression": "x < 1"}, "is_small", "d", store_failures=True),
        ),
        (
            "{not_null: {config: {error_if: '>10', warn_if: '>1', fail_calc: sum(n), enabled: false, meta: {a: 1}}}}",
            DataTest("not_null", error_if=">10", warn_if=">1", fail_calc="sum(n)", enabled=False, meta={"a": 1}),
        ),
    ],
)
def test_a_data_test_is_read_in_each_of_its_forms(written, test):
    found = clean(f"models:\n  - name: a\n    data_tests:\n      - {written}\n").models[0].data_tests
    assert found == (test,)
    assert (found[0].place.line, found[0].place.column) == (4, 9)


@pytest.mark.parametrize(
    ("written", "messages"),
    [
        ("{nut_null: {}, x: 1}", [
            "m.yml:4:9: model a: a data test must be a name or a mapping of one [invalid-value]"
        ]),
        ("{accepted_values: , values: [a]}", [
            "m.yml:4:9: model a: a data test must be a name or a mapping of one [invalid-value]\n"
            '    indent the lines below "accepted_values" further: they belong to it'
        ]),
        ("{accepted_values: [a]}", [
            'm.yml:4:27: model a: the arguments of "accepted_values" must be a mapping, not a list [invalid-value]'
        ]),
        ("{accepted_values: {value: [a]}}", [
            'm.yml:4:27: model a, test accepted_values: the key "values" is missing [missing-key]',
            'm.yml:4:28: model a, test accepted_values: unknown key "value" [unknown-key]\n'
            '    did you mean "values"?',
        ]),
        ("{accepted_values: {arguments: {values: a}}}", [
            'm.yml:4:48: model a, test accepted_values: "values" must be a list, not "a" [invalid-value]'
        ]),
        ("{not_null: {arguments: {x: 1}}}", [
            'm.yml:4:33: model a, test not_null: unknown key "x" [unknown-key]'
        ]),
        ("{own: {arguments: {x: 1}, y: 2}}", [
            'm.yml:4:35: model a, test own: "y" is next to "arguments" [invalid-value]\n'
            '    move it below "arguments"'
        ]),
        ("{own: {arguments: 1}}", [
            'm.yml:4:27: model a, test own: "arguments" must be a mapping, not 1 [invalid-value]'
        ]),
        ("{unique: {config: {severty: warn}}}", [
            'm.yml:4:28: model a, test unique: unknown key "severty" [unknown-key]\n    did you mean "severity"?'
        ]),
        ("{unique: {severity: warning, config: {severity: warn}}}", [
            'm.yml:4:19: model a, test unique: "severity" is set both in "config" and next to it [duplicate-key]\n'
            "    keep one of them",
            'm.yml:4:29: model a, test unique: "severity" must be "error" or "warn", not "warning" [invalid-value]\n'
            '    did you mean "warn"?',
        ]),
        ("{unique: {name: [a]}}", [
            'm.yml:4:25: model a, test unique: "name" must be text, not a list [invalid-value]'
        ]),
        ("3", ["m.yml:4:9: model a: a data test must be a name or a mapping of one [invalid-value]"]),
    ],
)  # fmt: skip
def test_a_wrong_data_test_is_told_at_its_place(written, messages):
    assert read(f"models:\n  - name: a\n    data_tests:\n      - {written}\n")[1] == messages


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("[a]\n", ["m.yml:1:1: this must be a mapping, not a list [invalid-value]"]),
        ("version: 1\n", ['m.yml:1:10: "version" must be 2, not 1 [invalid-value]']),
        ("version: '3'\n", ['m.yml:1:10: "version" must be 2, not "3" [invalid-value]']),
        ("modles: []\n", ['m.yml:1:1: unknown key "modles" [unknown-key]\n    did you mean "models"?']),
        ("models: {name: a}\n", ['m.yml:1:9: "models" must be a list, not a mapping [invalid-value]']),
        ("models: [a]\n", ['m.yml:1:10: an entry of "models" must be a mapping, not "a" [invalid-value]']),
        ("models: [{description: a}]\n", ['m.yml:1:10: the key "name" is missing [missing-key]']),
        ("models: [{name: ''}]\n", ['m.yml:1:17: "name" must be text that is not empty, not "" [invalid-value]']),
        ("models: [{name: a, colums: []}]\n", [
            'm.yml:1:20: model a: unknown key "colums" [unknown-key]\n    did you mean "columns"?'
        ]),
        ("models: [{name: a, materialized: view}]\n", [
            'm.yml:1:20: model a: unknown key "materialized" [unknown-key]\n'
            '    it is a config key: write it below "config:"'
        ]),
        ("models: [{name: a, columns: [{name: b, constraints: [{type: nonull}, {type: check}]}]}]\n", [
            'm.yml:1:61: column b: "type" must be "not_null", "unique", "primary_key", "foreign_key", "check" or '
            '"custom", not "nonull" [invalid-value]\n    did you mean "not_null"?',
            'm.yml:1:70: column b: a constraint of type "check" needs an "expression" [invalid-value]',
        ]),
        ("models: [{name: a, tests: [unique], data_tests: [unique]}]\n", [
            'm.yml:1:20: model a: "tests" and "data_tests" are two names of one key [duplicate-key]\n'
            '    keep "data_tests"'
        ]),
        ("models: [{name: a, tests: unique}]\n", [
            'm.yml:1:27: model a: "tests" must be a list, not "unique" [invalid-value]'
        ]),
        ("sources: [{name: s, tables: [{name: t, options: [a], identifer: x}]}]\n", [
            'm.yml:1:49: table t: "options" must be a mapping, not a list [invalid-value]',
            'm.yml:1:54: table t: unknown key "identifer" [unknown-key]\n    did you mean "identifier"?',
        ]),
        ("unit_tests: [{name: u, model: m, expect: {}}]\n", [
            'm.yml:1:42: unit test u: "expect" needs "rows", "changes" or "error" [invalid-value]'
        ]),
        ("unit_tests: [{name: u, model: m}]\n", [
            'm.yml:1:14: unit test u: the key "expect" is missing [missing-key]'
        ]),
        ("unit_tests: [{name: u, model: m, given: [{input: this, rows: a}], expect: {fixture: f}}]\n", [
            'm.yml:1:42: unit test u: "rows" must be a list of mappings, unless "format" is csv or sql '
            "[invalid-value]",
            'm.yml:1:75: unit test u: a "fixture" needs "format: csv" or "format: sql" [invalid-value]',
        ]),
        ("unit_tests: [{name: u, model: m, expect: {format: csv, rows: [{a: 1}]}}]\n", [
            'm.yml:1:42: unit test u: "rows" must be text in the format csv [invalid-value]'
        ]),
        ("unit_tests: [{name: u, model: m, expect: {rows: 3}}]\n", [
            'm.yml:1:42: unit test u: "rows" must be a list of mappings, unless "format" is csv or sql '
            "[invalid-value]"
        ]),
    ],
)  # fmt: skip
def test_a_problem_names_the_thing_and_its_place(text, messages):
    assert read(text)[1] == messages


def test_all_problems_of_a_file_are_told_at_once():
    _, problems = read("""\
        models:
          - {name: a, x: 1, columns: [{nam: b}], tests: [3]}
          - {name: b, enabled: true}
        seeds: 3
        """)
    assert [problem.split(" ")[0] for problem in problems] == [
        "m.yml:2:15:", "m.yml:2:31:", "m.yml:2:32:", "m.yml:2:50:", "m.yml:3:15:", "m.yml:4:8:",
    ]  # fmt: skip


def test_a_place_is_kept_for_tests_of_columns_and_tables():
    found = clean("sources: [{name: s, tables: [{name: t, columns: [{name: c, tests: [unique]}]}]}]\n")
    assert found.sources[0].tables[0].columns[0].data_tests[0].place == Place("m.yml", 1, 68, 1, 74)


@pytest.mark.parametrize(
    ("entry", "place", "says"),
    [
        ("models: [{name: a, versions: [{v: 1}]}]", "1:20", "models have no versions"),
        ("models: [{name: a, latest_version: 2}]", "1:20", "models have no versions"),
        ("models: [{name: a, materialized: table}]", "1:20", 'write it below "config:"'),
        ("models: [{name: a, time_spine: {}}]", "1:20", "there is no semantic layer"),
        ("models: [{name: a, primary_key: id}]", "1:20", "there is no semantic layer"),
        ("models: [{name: a, freshness: {build_after: {}}}]", "1:20", 'a model has "build_after" below "config:"'),
        ("models: [{name: a, columns: [{name: b, column_mask: {}}]}]", "1:40", "ALTER TABLE in a `post_hook`"),
        ("sources: [{name: a, overrides: b}]", "1:21", "packages have macros alone"),
        ("sources: [{name: a, tables: [{name: b, external: {}}]}]", "1:40", 'write "path", "format" and "options"'),
        ("sources: [{name: a, tables: [{name: b, loaded_at_query: x}]}]", "1:40", '"loaded_at_field"'),
    ],
)
def test_a_key_of_dbt_that_would_matter_is_an_error_that_says_what_to_do(entry, place, says):
    (message,) = read(entry)[1]
    assert message.startswith(f"m.yml:{place}: ")
    assert says in message


def test_what_changes_nothing_is_taken_as_dbt_has_it():
    found = clean("""\
        models:
          - name: a
            group: finance
            access: protected
            deprecation_date: 2030-01-01
            columns: [{name: id, config: {tags: [pii], meta: {owner: me}}}]
            tests: [unique_combination_of_columns: {columns: [id]}]
        sources: [{name: raw, loader: airbyte, quoting: {schema: true}, tables: [{name: t, quoting: {identifier: true}}]}]
        """)
    (model,) = found.models
    assert (model.group, model.access, model.columns[0].config.tags) == ("finance", "protected", ("pii",))
    assert found.sources[0].loader == "airbyte"
