"""Jinja in property files."""

import json

import pytest

FILES = {"models/stg.sql": "select 1 as id"}


def test_configs_and_sources_know_vars_the_target_and_the_environment(project):
    text = """\
        models:
          - name: stg
            description: "of {{ target.name }}, {% raw %}{{ as written }}{% endraw %}"
            config:
              enabled: "{{ var('on', true) }}"
              materialized: "{{ 'table' if target.name == 'local' else 'view' }}"
              priority: "{{ var('priority') }}"
              schema: "{{ env_var('TEAM', '007') }}"
              post_hook: "optimize {{ this }}"
            columns: [{name: id, data_tests: [{accepted_values: {values: ["{{ later }}"]}}]}]
        sources:
          - name: raw
            schema: "raw_{{ target.schema }}"
            tables: [{name: flight, path: "{{ env_var('DATA', 'data') }}/flight.csv", format: csv}]
        """
    files = project({**FILES, "models/m.yml": text}).load(vars={"priority": 3, "on": False})
    values = files.models["stg"].layers[-1].values
    assert {key: values[key] for key in ("enabled", "materialized", "priority", "schema", "post_hook")} == {
        "enabled": False,
        "materialized": "table",
        "priority": 3,
        "schema": "007",
        "post_hook": ("optimize {{ this }}",),
    }
    table = files.sources["raw", "flight"].table
    assert (table.schema, table.path) == ("raw_shop", "data/flight.csv")


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("{not_null: {config: {enabled: \"{{ var('on', true) }}\"}}}", {"enabled": False}),
        ("{not_null: {severity: \"{{ 'warn' if target.name == 'local' else 'error' }}\"}}", {"severity": "warn"}),
        ("{test_name: not_null, config: {limit: \"{{ var('most') }}\"}}", {"limit": 7}),
        (
            '{test_name: not_null, tags: ["{{ target.name }}"], where: "{{ later }}"}',
            {"tags": ("local",), "where": "{{ later }}"},
        ),
        (
            '{unique: {column_name: "{{ later }}", config: {error_if: ">{{ var(\'most\') }}"}}}',
            {"error_if": ">7", "arguments": {"column_name": "{{ later }}"}},
        ),
    ],
)
@pytest.mark.parametrize(
    "holder",
    [
        "models: [{{name: stg, data_tests: [{}]}}]",
        "models: [{{name: stg, columns: [{{name: id, tests: [{}]}}]}}]",
        "sources: [{{name: raw, tables: [{{name: t, data_tests: [{}]}}]}}]",
    ],
)
def test_configs_of_data_tests_are_rendered(project, holder, test, expected):
    files = project({**FILES, "models/m.yml": holder.format(test)}).load(vars={"on": False, "most": 7})
    ((entry,),) = files.data_tests.values()
    assert {key: getattr(entry.test, key) for key in expected} == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("{{ nope }}", '"nope", which a property file does not know'),
        ("{{ var('nope') }}", 'needs the var "nope"'),
        ("{{ env_var('NO_SUCH') }}", "needs the environment variable NO_SUCH"),
        ("{{ 1", "cannot be parsed"),
    ],
)
def test_what_cannot_be_rendered_is_told_at_its_value(project, value, message):
    text = f'models:\n  - name: stg\n    config:\n      alias: "{value}"\n'
    (told,) = project({**FILES, "models/m.yml": text}).messages()
    assert told.startswith("models/m.yml:4:14: ")
    assert message in told


def test_a_secret_of_the_environment_that_a_property_file_reads_is_known_as_one(project):
    text = "sources: [{name: raw, tables: [{name: t, path: \"s3://{{ env_var('API_TOKEN') }}@b/t\", format: csv}]}]"
    files = project({**FILES, "models/m.yml": text}).load(env={"API_TOKEN": "hunter2"})
    assert "hunter2" in files.profile.secrets


@pytest.mark.fuzz("Jinja")
@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{{ 'a' * 10 ** 10 }}", "mul"),
        ("{{ 9 ** 99999999 }}", "pow"),
        ("{{ '%0999999999d' % 1 }}", "mod"),
        ("{% for a in env_var('X', 'y') %}x{% endfor %}", "for"),
        ("{% set x = 'a' %}{% set x = x ~ x %}{{ x }}", "assign"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "macro"),
        ("{{ 'a' | center(999999999) }}", 'the filter "center"'),
        ("{{ '{:999999999}'.format(1) }}", "a method"),
        ("{{ 'a'.ljust(999999999) }}", "a method"),
        ("{{ 'a'" + " | replace('a', 'aaaaaaaaaa')" * 12 + " }}", 'the filter "replace" 12 times'),
        ("{{ ''.__class__.__mro__ }}", None),
        ("{{ env_var.__globals__ }}", None),
        ("{{ env_var.__self__._problems }}", None),
        ("{{ ''|attr('__class__')|attr('__mro__') }}", None),
    ],
)
def test_no_value_grows_or_leads_out_of_the_sandbox(project, text, what):
    said = f"models:\n  - name: stg\n    config:\n      alias: {json.dumps(text)}\n"
    (told,) = project({**FILES, "models/m.yml": said}).messages()
    assert told.startswith("models/m.yml:4:14: ")
    assert "[value-jinja]" in told
    assert what is None or f"uses {what}, which a value may not" in told
