"""The files of a project that has a node of every kind and a use of every feature, for tests/cli/every_command.py."""

PYPROJECT = """
[tool.merge-runner]
name = "shop"

[tool.merge-runner.vars]
day = "2024-01-01"

[tool.merge-runner.models]
scan = "full"

[tool.merge-runner.models.staging]
materialized = "view"
tags = ["staging"]

[tool.merge-runner.lint]
per-path-ignores = {"models/old.sql" = ["P001"]}
"""
PROFILES = """
shop:
  target: dev
  outputs:
    dev: {master: 'local[2]', schema: shop, catalogs: {ice: {type: embedded}}, conf: {spark.sql.shuffle.partitions: 1}}
    prod: {master: 'local[2]', schema: prod, catalogs: {ice: {type: embedded}}}
"""
SOURCES = """
version: 2
sources:
  - name: raw
    tables:
      - name: events
        path: data/events.csv
        format: csv
        options: {header: true}
        loaded_at_field: at
        freshness: {warn_after: {count: 1, period: day}, error_after: {count: 100000, period: day}}
        columns:
          - {name: id, data_type: int, data_tests: [not_null]}
          - {name: at, data_type: timestamp}
          - {name: amount, data_type: int}
      - {name: orders, schema: shop, identifier: numbers}
      - name: landing
        path: landing
        format: json
        stream: {}
        columns: [{name: id, data_type: int}, {name: amount, data_type: int}]
"""
PROPERTIES = """
version: 2
models:
  - name: numbers
    description: A table model.
    contract: {enforced: true}
    columns: [{name: id, data_type: int}, {name: amount, data_type: int}]
  - name: fct
    description: A merge model.
    columns:
      - {name: id, data_type: int, constraints: [{type: not_null}], data_tests: [not_null, unique]}
      - name: amount
        data_type: int
        data_tests:
          - accepted_values: {values: [10, 20, 30], quote: false, severity: warn}
          - relationships: {to: ref('numbers'), field: amount}
          - expression_is_true: {expression: '>= 0', store_failures: true}
      - {name: at, data_type: timestamp, data_tests: [{recency: {datepart: day, interval: 100000}}]}
    data_tests:
      - unique_combination: {combination_of_columns: [id, amount], where: id > 0}
      - unique_combination_of_columns: {combination_of_columns: [id, amount]}
      - row_count_between: {min_value: 1, max_value: 1000}
      - expression_is_true: {name: the_ids_are_small, expression: id < 1000}
  - name: fct_part
    columns: [{name: id, data_type: int, data_tests: [{unique: {where: id > 0}}]}, {name: amount, data_type: int}]
  - name: incremental
    columns: [{name: id, data_type: int}, {name: amount, data_type: int}]
  - name: ice_fct
    columns: [{name: id, data_type: int}, {name: amount, data_type: int, data_tests: [not_null]}]
  - name: consumer
    columns: [{name: id, data_type: int}, {name: amount, data_type: int}]
  - name: streamed
    columns: [{name: id, data_type: int}, {name: amount, data_type: int}]
  - name: guarded
    config: {expect_merge: {min_source_rows: 1, unique_source: true}, post_hook: ["select 1"]}
    columns: [{name: id, data_type: int}, {name: amount, data_type: int}]
seeds:
  - name: colours
    columns: [{name: id, data_type: int, data_tests: [unique]}, {name: colour, data_type: string}]
unit_tests:
  - name: a_new_row_is_inserted
    model: fct
    given:
      - {input: this, rows: []}
      - {input: ref('stg'), rows: [{id: 1, amount: 10}]}
    expect: {rows: [{id: 1, amount: 10}]}
  - name: a_later_run_takes_what_is_new
    model: incremental
    overrides: {macros: {is_incremental: true}}
    given:
      - {input: this, rows: [{id: 1, amount: 10}]}
      - {input: ref('numbers'), rows: [{id: 1, amount: 0}, {id: 2, amount: 20}]}
    expect: {rows: [{id: 1, amount: 10}, {id: 2, amount: 20}]}
  - name: an_ephemeral_model_is_read
    model: tbl_of_ephemeral
    given: [{input: ref('numbers'), rows: [{id: 1, amount: 10}]}]
    expect: {rows: [{id: 1, amount: 10}]}
"""
MERGE = """
merge into {{ this }} as t
using (select id, amount from %s) as s
    on t.id = s.id
when matched and s.amount <> t.amount then update set t.amount = s.amount
when not matched then insert (id, amount) values (s.id, s.amount)
"""
FILES = {
    "pyproject.toml": PYPROJECT,
    "profiles.yml": PROFILES,
    "selectors.yml": "selectors:\n  - {name: nightly, definition: 'fct+'}\n",
    "macros/all.sql": "{% macro twice(column) %}2 * {{ column }}{% endmacro %}",
    "models/staging/stg.sql": "select id, at, amount, {{ twice('amount') }} as two from {{ source('raw', 'events') }}",
    "models/eph.sql": "{{ config(materialized='ephemeral') }} select id, amount from {{ ref('numbers') }}",
    "models/numbers.sql": "{{ config(materialized='table') }} select * from values (1, 10), (2, 20), (3, 30) as v(id, amount)",
    "models/tbl_of_ephemeral.sql": "{{ config(materialized='table') }} select * from {{ ref('eph') }}",
    "models/of_seed.sql": "{{ config(materialized='view', alias='of_colours') }} select * from {{ ref('colours') }}",
    "models/fct.sql": "{{ config(unique_key='id', optimize={'zorder_by': ['id']}, tags=['daily']) }}"
    + MERGE.replace("id, amount from", "id, amount, at from").replace("(id, amount) values (s.id, s.amount)", "*")
    % "{{ ref('stg') }}",
    "models/fct_part.sql": "{{ config(unique_key='id', partition_by='id') }}" + MERGE % "{{ ref('fct') }}",
    "models/incremental.sql": "{{ config(unique_key='id', optimize={'after': 1}, meta={'owner': 'shop'}) }}"
    + MERGE % "{{ ref('numbers') }} {% if is_incremental() %}where id > (select max(id) from {{ this }}){% endif %}",
    "models/ice_fct.sql": "{{ config(unique_key='id', format='iceberg') }}" + MERGE % "{{ ref('numbers') }}",
    "models/consumer.sql": "{{ config(unique_key='id') }}"
    + MERGE % "{{ changes('fct') }} where _change_type = 'insert'",
    "models/streamed.sql": "{{ config(unique_key='id') }}" + MERGE % "{{ source('raw', 'landing') }}",
    "models/guarded.sql": "{{ config(unique_key='id', pre_hook='select 1') }}"
    + MERGE % "{{ ref('tbl_of_ephemeral') }}",
    "models/of_table.sql": "{{ config(materialized='view', enabled=var('shop', false)) }} select * from {{ source('raw', 'orders') }}",
    "models/old.sql": "{{ config(enabled=false) }} select 1 as id",
    "models/sources.yml": SOURCES,
    "models/properties.yml": PROPERTIES,
    "seeds/colours.csv": "id,colour\n1,red\n2,blue\n",
    "tests/no_negative_amount.sql": "{{ config(severity='warn') }} select * from {{ ref('fct') }} where amount < 0",
    "tests/disabled.sql": "{{ config(enabled=false) }} select 1",
    "data/events.csv": "id,at,amount\n1,2024-01-01 00:00:00,10\n2,2024-01-02 00:00:00,20\n",
    "landing/1.json": '{"id": 1, "amount": 10}\n{"id": 2, "amount": 20}\n',
    # What a dbt project leaves next to its models.
    "snapshots/orders_snapshot.sql": "{% snapshot orders_snapshot %} select 1 as id {% endsnapshot %}",
    "analyses/question.sql": "select count(*) from {{ ref('fct') }}",
    "packages.yml": "packages: []\n",
    "dbt_project.yml": "name: shop\nprofile: shop\n",
    "models/frame.py": "def model(dbt, session):\n    return session.range(1)\n",
    # What options name.
    "given/layout.yml": "tables: [{name: sales.orders, format: delta, partition_by: [day], columns: [{name: day, data_type: date}]}]\n",
    "given/plain.sql": "merge into a.b t using a.c s on t.id = s.id when matched then delete;\n",
    "given/baseline.json": '{"version": 1, "findings": []}',
    "given/not_sql.txt": "\x00\xff",
}
