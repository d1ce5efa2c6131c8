"""Batches on real tables: what is due, late rows, a window again, a rebuild, and what vacuum leaves of the record."""

import itertools
from datetime import datetime, timezone
from textwrap import dedent

import pytest

from merge_runner import Project
from merge_runner.formats.lines import installed_line

FORMATS = [name for name in ("delta", "iceberg") if name in installed_line().formats]
NUMBERS = itertools.count()
YEAR = datetime.now(timezone.utc).year
FIRST = YEAR - 4
FILES = {
    "models/event.sql": """
        {{ config(event_time='at', unique_key=['id']) }}
        merge into {{ this }} as t
        using (select id, cast(at as date) as at from values {{ var('rows') }} as v (id, at)) as s on t.id = s.id
        when not matched then insert *
    """,
    "models/fct.sql": """
        {{ config(event_time='at', batch_size='year', lookback=1, late_rows='warn', partition_by=['at']) }}
        merge into {{ this }} as t
        using (select id, at from {{ ref('event') }} where at >= {{ batch.start }} and at < {{ batch.end }}) as s
        on t.id = s.id and t.at = s.at and t.at >= {{ batch.start }} and t.at < {{ batch.end }}
        when matched then update set *
        when not matched then insert *
    """,
    "models/models.yml": f"""
        models:
          - {{name: event, columns: &columns [{{name: id, data_type: int}}, {{name: at, data_type: date}}]}}
          - {{name: fct, config: {{begin: {FIRST}-01-01}}, columns: *columns}}
    """,
}


def rows(*events):
    return ", ".join(f"({id}, '{at}')" for id, at in events)


@pytest.mark.spark
@pytest.mark.parametrize("table_format", FORMATS)
def test_life_of_a_table(make_project, driver, spark, table_format):
    profile = f"master: 'local[2]', schema: windows{next(NUMBERS)}"
    if table_format == "iceberg":
        warehouse = spark.conf.get("spark.sql.warehouse.dir").removeprefix("file:")
        profile = profile.replace("windows", "lake.windows")
        profile += f", warehouse: {warehouse}, catalogs: {{lake: {{type: embedded}}}}"
    root = make_project(
        {
            **{path: dedent(text) for path, text in FILES.items()},
            "profiles.yml": f"shop: {{outputs: {{dev: {{{profile}}}}}}}\n",
        },
        table_format=table_format,
    )
    first = rows(*((number, f"{FIRST + number}-05-01") for number in range(5)))

    def project(events=first, **options):
        return Project.load(root, vars={"rows": events}, **options)

    def build(events=first, full_refresh=False, **options):
        results = project(events, full_refresh=full_refresh).build(driver=driver, lint=False, reuse="off", **options)
        assert results.ok, [result.message for result in results.results]
        return results["fct"]

    def batches(result):
        return [
            (batch["start"][:4], batch["reason"], batch["status"], batch["rows"]) for batch in result.response.batches
        ]

    def table(result):
        with driver.session() as session:
            return sorted((row.id, row.at.isoformat()) for row in session.table(result.relation_name).collect())

    def due():
        explanation = project().explain(spark=True, driver=driver)
        node = next(node for level in explanation.as_json()["levels"] for node in level if node["name"] == "fct")
        return [(batch["start"][:4], batch["reason"]) for batch in node["batches"]["due"]]

    assert due() == [(str(FIRST + number), "new") for number in range(5)]
    result = build()
    assert batches(result) == [(str(FIRST + number), "new", "success", 1) for number in range(5)]
    assert table(result) == [(number, f"{FIRST + number}-05-01") for number in range(5)]
    assert due() == [(str(YEAR - 1), "lookback"), (str(YEAR), "open")]

    # What comes late within `lookback` is merged; what is older is reported.
    late = f"{first}, {rows((8, f'{YEAR - 1}-06-01'), (9, f'{FIRST}-06-01'))}"
    result = build(late)
    assert batches(result) == [(str(YEAR - 1), "lookback", "success", 2), (str(YEAR), "open", "success", 1)]
    assert [warning for warning in result.warnings if "too late" in warning] == [
        f"1 row of {result.relation_name.replace('fct', 'event').replace('`', '')} came too late for the batches that "
        f"ran, the first of which was {YEAR - 1}-01-01/{YEAR}-01-01: the times are {FIRST}-06-01 to {FIRST}-06-01; "
        "--event-time-start and --event-time-end merge them"
    ]
    result = build(late, event_time_start=f"{FIRST}-06-01", event_time_end=f"{FIRST}-06-02")
    assert batches(result) == [(str(FIRST), "asked", "success", 2)]
    assert (9, f"{FIRST}-06-01") in table(result)

    # A full refresh of a window removes its rows, and no others.
    with driver.session() as session:
        session.sql(f"UPDATE {result.relation_name} SET id = id + 100 WHERE at < '{FIRST + 1}-01-01'")
    result = build(late, full_refresh=True, event_time_start=str(FIRST) + "-01-01", event_time_end=f"{FIRST + 1}-01-01")
    assert batches(result) == [(str(FIRST), "asked", "success", 2)]
    assert len(table(result)) == 7 and max(id for id, _ in table(result)) == 9

    # What is committed is known when the snapshots that say so are gone.
    node = project().graph.nodes[result.unique_id]
    with driver.session() as session:
        for _ in range(2):
            driver.table_format(table_format).vacuum(
                session, node.relation, 0 if table_format == "iceberg" else 604_800, ""
            )
    assert due() == [(str(YEAR - 1), "lookback"), (str(YEAR), "open")]

    # All batches of a rebuild give the same rows.
    report = project(late).diff(["fct"], rebuild=True, driver=driver)
    assert [(table.rows.left, table.rows.right, table.equal) for table in report.models] == [(7, 7, True)]

    # A full refresh begins anew, with the first batch alone replacing the table.
    result = build(full_refresh=True)
    assert batches(result) == [(str(FIRST + number), "new", "success", 1) for number in range(5)]
    assert result.response.target.created
    assert table(result) == [(number, f"{FIRST + number}-05-01") for number in range(5)]
    assert due() == [(str(YEAR - 1), "lookback"), (str(YEAR), "open")]
