"""What is killed by `kills.py`: small projects of Delta and Iceberg tables, and commands in them."""

import json
from dataclasses import dataclass

SETTINGS = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
    # What a killed Spark leaves in its scratch folder goes with the project's.
    "profiles.yml": """
        shop: {outputs: {dev: {master: "local[2]", schema: shop, warehouse: warehouse,
          catalogs: {ice: {type: embedded}}, conf: {spark.local.dir: scratch}}}}
    """,
}
ADDING = """
    using (select id, 1L as times from {{ ref('stg') }}) as s on t.id = s.id
    when matched then update set t.times = t.times + s.times
    when not matched then insert
"""
TAKEN = "{% if var('v', 1) > 1 %}delete from {{ this }} where id >= 4{% else %}select 1{% endif %}"
BUILD = SETTINGS | {
    "models/stg.sql": "{{ config(materialized='view') }} select id from range({{ var('v', 1) }}, {{ var('v', 1) }} + 4)",
    # Each MERGE adds, so that one too many or too few is seen. The hooks commit to the table as well, and what one
    # takes out, the MERGE puts back.
    "models/counted.sql": f"merge into {{{{ this }}}} as t {ADDING} (id, times, seen) values (s.id, s.times, false)",
    "models/ice_counted.sql": "{{ config(format='iceberg') }}" + f"merge into {{{{ this }}}} as t {ADDING} *",
    # Keeps every change that it is given: what it is given twice stands there twice.
    "models/log.sql": """
        merge into {{ this }} as t
        using (select id, times, seen, _change_type as kind from {{ changes('counted') }}) as s on false
        when not matched then insert *
    """,
    "models/m.yml": f"""
        models:
          - name: counted
            config:
              pre_hook: "{TAKEN}"
              post_hook: "update {{{{ this }}}} set seen = true where not seen"
            columns:
              - {{name: id, data_type: bigint, data_tests: [not_null]}}
              - {{name: times, data_type: bigint}}
              - {{name: seen, data_type: boolean}}
          - {{name: ice_counted, config: {{pre_hook: "{TAKEN}"}}}}
    """,
}
STREAM = SETTINGS | {
    "models/s.yml": """
        sources:
          - name: raw
            tables:
              - name: orders
                path: landing
                format: json
                options: {maxFilesPerTrigger: "1"}
                stream: true
                columns: [{name: id, data_type: bigint}, {name: amount, data_type: bigint}]
    """,
    "models/even.sql": """
        merge into {{ this }} as t
        using (select id, amount from {{ source('raw', 'orders') }} where id % 2 = 0) as s on t.id = s.id
        when matched then update set t.amount = t.amount + s.amount
        when not matched then insert *
    """,
    "models/odd.sql": """
        {{ config(format='iceberg') }}
        merge into {{ this }} as t
        using (select id, amount from {{ source('raw', 'orders') }} where id % 2 = 1) as s on t.id = s.id
        when matched then update set t.amount = t.amount + s.amount
        when not matched then insert *
    """,
    "models/total.sql": """
        merge into {{ this }} as t
        using (select sum(amount) as amount, 'all' as what from (
            select amount from {{ ref('even') }} union all select amount from {{ ref('odd') }})) as s on t.what = s.what
        when matched then update set *
        when not matched then insert *
    """,
    **{
        f"landing/{batch}.json": "\n".join(
            json.dumps({"id": id, "amount": batch + id}) for id in range(batch, batch + 4)
        )
        for batch in range(2)
    },
}
GUARDED = BUILD | {
    # The same with limits that hold: Delta's MERGE is counted before, Iceberg's runs on a branch first.
    "models/counted.sql": "{{ config(expect_merge={'max_deletes': 0}) }}" + BUILD["models/counted.sql"],
    "models/ice_counted.sql": "{{ config(expect_merge={'max_deletes': 0}) }}" + BUILD["models/ice_counted.sql"],
}
BUILT = {
    "counted": ("delta", "id, times, seen"),
    "ice_counted": ("iceberg", "id, times"),
    "log": ("delta", "id, times, seen, kind"),
}
STREAMED = {
    "even": ("delta", "id, amount"),
    "odd": ("iceberg", "id, amount"),
    "total": ("delta", "what, amount"),
}


@dataclass(frozen=True)
class Scenario:
    """What is killed: a command in a project, after others have prepared it. `tables` are format and columns by model."""

    files: dict
    command: tuple
    tables: dict
    prepare: tuple = ()
    again: tuple = ("retry",)


def _build(v, *words):
    return ("build", "--no-lint", "--vars", f"{{v: {v}}}", *words)


_FIRST = (_build(1, "--threads", "2"),)
SCENARIOS = {
    "first": Scenario(BUILD, _build(1, "--threads", "1"), BUILT),
    "again": Scenario(BUILD, _build(2, "--threads", "1"), BUILT, _FIRST),
    "parallel": Scenario(BUILD, _build(2, "--threads", "2"), BUILT, _FIRST),
    "batch": Scenario(BUILD, _build(2, "--threads", "2", "--batch-id", "7"), BUILT, _FIRST),
    "guarded": Scenario(GUARDED, _build(2, "--threads", "1"), BUILT, _FIRST),
    "stream": Scenario(
        STREAM, ("stream", "--available-now", "--threads", "1"), STREAMED, again=("stream", "--available-now")
    ),
    "parallel stream": Scenario(
        STREAM, ("stream", "--available-now", "--threads", "2"), STREAMED, again=("stream", "--available-now")
    ),
}
