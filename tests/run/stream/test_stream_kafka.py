"""A stream of a real Kafka broker."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.run.stream.kafka_broker import Broker

pytestmark = pytest.mark.nightly

FILES = {
    "models/sources.yml": """
        version: 2
        sources:
          - name: queue
            tables:
              - name: orders
                stream:
                  format: kafka
                  options:
                    kafka.bootstrap.servers: "{{ env_var('BROKER') }}"
                    subscribe: orders
                    startingOffsets: earliest
                    maxOffsetsPerTrigger: "3"
    """,
    "models/parsed.sql": """
        {{ config(materialized='ephemeral') }}
        select cast(key as string) as id, from_json(cast(value as string), 'seq bigint, amount bigint') as body, offset
        from {{ source('queue', 'orders') }}
    """,
    "models/fct.sql": """
        merge into {{ this }} as t
        using (
            select id, body.seq, body.amount from (
                select *, row_number() over (partition by id order by body.seq desc) as n from {{ ref('parsed') }})
            where n = 1
        ) as s on t.id = s.id
        when matched and s.seq > t.seq then update set *
        when not matched then insert *
    """,
    "models/log.sql": """
        merge into {{ this }} as t using (select id, body.seq, offset from {{ ref('parsed') }}) as s on false
        when not matched then insert *
    """,
}


def run(root, broker, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "merge_runner", *arguments],
        cwd=root,
        env={**os.environ, "BROKER": broker.address, "MERGE_RUNNER_WARM": "0"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_messages_are_merged_once_and_in_their_order(make_project, tmp_path, spark):
    profile = "shop: {outputs: {dev: {master: 'local[2]', schema: kafka, warehouse: warehouse}}}\n"
    root = make_project(FILES | {"profiles.yml": profile})
    with Broker(tmp_path / "broker") as broker:
        broker.create("orders", 2)
        sent = [(f"k{number % 3}", json.dumps({"seq": number, "amount": number * 10})) for number in range(8)]
        broker.send("orders", *sent)
        first = run(root, broker, "stream", "--available-now")
        assert first.returncode == 0, first.stderr
        broker.send(
            "orders", ("k0", json.dumps({"seq": 1, "amount": -1})), ("k9", json.dumps({"seq": 9, "amount": 90}))
        )
        second = run(root, broker, "stream", "--available-now")
        assert second.returncode == 0, second.stderr

    def rows(name):
        return spark.read.format("delta").load(str(root / f"warehouse/kafka/{name}"))

    assert sorted(tuple(row) for row in rows("fct").collect()) == [
        ("k0", 6, 60),
        ("k1", 7, 70),
        ("k2", 5, 50),
        ("k9", 9, 90),
    ]
    assert sorted(row.seq for row in rows("log").collect()) == [0, 1, 1, 2, 3, 4, 5, 6, 7, 9]
    events = [json.loads(line) for line in Path(root / "target/journal.jsonl").read_text().splitlines()]
    batches = [event for event in events if event["event"] == "batch_finished"]
    assert sum(batch["rows"] for batch in batches) == 10
    assert len(batches) > 2
    metrics = [event["progress"]["sources"][0]["metrics"] for event in events if event["event"] == "stream_progress"]
    assert float(metrics[-1]["maxOffsetsBehindLatest"]) == 0
