"""The histories of test_histories.py on Spark: 30 of a format, each a separate model, so that all share builds."""

import random
from datetime import timedelta

import pytest

from merge_runner.api import Project
from tests.run.batches.batch_projects import run_at
from tests.run.batches.test_histories import BEGIN, Event, newest, time_of
from tests.run.node.test_faults import journal_of

DAYS = 3
HOURS = 24 * DAYS
MODEL = """
{{{{ config(event_time='day', batch_size='day', begin='2024-01-01', partition_by=['day'], lookback={lookback},
           batches_at_once={at_once}, concurrent_batches='{mode}') }}}}
merge into {{{{ this }}}} as t
using (
    select id, at, day, if(max(fails), raise_error('odd'), max(value)) as value
      from {{{{ source('raw', 'events') }}}}
     where history = {number} and day >= {{{{ batch.start }}}} and day < {{{{ batch.end }}}}
     group by id, at, day
) as s
on t.id = s.id and t.day = s.day and t.day >= {{{{ batch.start }}}} and t.day < {{{{ batch.end }}}}
when matched then update set *
when not matched then insert *
"""
COLUMNS = """columns: [{name: id, data_type: bigint}, {name: at, data_type: timestamp_ntz}, {name: day, data_type: date},
      {name: value, data_type: bigint}]"""
SOURCE = "sources: [{name: raw, schema: SCHEMA, tables: [{name: events}]}]"


def random_events(choose, lookback):
    """Versions of rows, each at most `lookback` batches late."""
    for id in range(choose.randint(2, 6)):
        at = choose.randrange(HOURS)
        last = min(HOURS, (at // 24 + lookback + 1) * 24) - 1
        for value in range(choose.randint(1, 3)):
            yield Event(id, at, choose.randint(at, last), value)


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.parametrize("format", ["delta", "iceberg"])
@pytest.mark.parametrize("histories", [3, pytest.param(30, marks=pytest.mark.nightly)])
def test_rows_are_those_of_one_run_over_all_events(make_project, driver, format, histories):
    choose, files, events = random.Random(format), {}, {}
    for number in range(histories):
        lookback, at_once, mode = choose.randint(0, 2), choose.randint(1, 3), choose.choice(["auto", "auto", "off"])
        events[number] = list(random_events(choose, lookback))
        files[f"models/m{number}.sql"] = MODEL.format(lookback=lookback, at_once=at_once, mode=mode, number=number)
    models = "".join(f"  - name: m{number}\n    {COLUMNS}\n" for number in events)
    root = make_project({**files, "models/models.yml": f"models:\n{models}"}, format)
    schema = f"raw_{root.name}_{format}"
    (root / "models/sources.yml").write_text(SOURCE.replace("SCHEMA", schema))
    driver.spark.sql(f"CREATE SCHEMA IF NOT EXISTS {schema}")
    failed = 0
    for hour in [*sorted(choose.sample(range(6, HOURS), 2)), HOURS]:
        write_events(driver.spark, f"{schema}.events", events, hour, choose if hour < HOURS else None)
        run_at(root, time_of(hour), driver, no_lint=True, threads=2)
        failed += sum(event["batch"]["status"] == "error" for event in batches_of(root))
    assert failed > 0, "no batch has failed: the histories try nothing"
    nodes = Project.load(root).graph.nodes
    for number, history in events.items():
        table = nodes[f"model.shop.m{number}"].relation
        rows = driver.spark.sql(f"SELECT id, at, value FROM {table} ORDER BY id").collect()
        expected = sorted(newest(history).values(), key=lambda event: event.id)
        values = [(row.id, row["at"], row["value"]) for row in rows]
        assert values == [
            (event.id, (BEGIN + timedelta(hours=event.at)).replace(tzinfo=None), event.value) for event in expected
        ], number


def write_events(spark, table, events, hour, choose):
    """Write what has come until an hour; every fifth row has its batch fail, where `choose` is a random.Random."""
    rows = [
        (
            number,
            event.id,
            time_of(event.at).replace(tzinfo=None),
            time_of(event.at).date(),
            event.value,
            choose is not None and choose.random() < 1 / 5,
        )
        for number, history in events.items()
        for event in newest(event for event in history if event.comes <= hour).values()
    ]
    frame = spark.createDataFrame(
        rows, "history int, id bigint, at timestamp_ntz, day date, value bigint, fails boolean"
    )
    frame.coalesce(1).write.mode("overwrite").saveAsTable(table)


def batches_of(root):
    return [event for event in journal_of(root) if event["event"] == "node_batch_finished"]
