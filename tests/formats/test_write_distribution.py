"""Whether a MERGE brings the rows of a partition together before it writes them: what we say, and what the engines do."""

import itertools

import pytest

from merge_runner.engine.spark.sql import temporary_confs
from merge_runner.formats.rules import rules

NUMBERS = itertools.count()
UPSERT = "when matched then update set * when not matched then insert *"
CLAUSES = {"upsert": UPSERT, "insert": "when not matched then insert *"}
REPARTITION = {"spark.databricks.delta.merge.repartitionBeforeWrite.enabled": "false"}
OF_MERGE, OF_WRITE = ({f"write.{kind}distribution-mode": "none"} for kind in ("merge.", ""))
CASES = [
    # format, shape, properties, conf, and the setting that decides
    ("delta", "upsert", {}, {}, True, "repartitionBeforeWrite"),
    ("delta", "upsert", {}, REPARTITION, False, "repartitionBeforeWrite"),
    ("delta", "insert", {}, REPARTITION, False, "repartitionBeforeWrite"),
    ("delta", "upsert", {"delta.autoOptimize.optimizeWrite": "true"}, REPARTITION, True, "optimizeWrite"),
    ("iceberg", "upsert", {}, {}, True, "write.merge"),
    ("iceberg", "upsert", OF_MERGE, {}, False, "write.merge"),
    ("iceberg", "upsert", OF_WRITE, {}, True, "write.merge"),
    ("iceberg", "upsert", OF_MERGE | {"write.merge.mode": "merge-on-read"}, {}, False, "write.merge"),
    ("iceberg", "insert", OF_MERGE, {}, True, "write.distribution"),
    ("iceberg", "insert", OF_WRITE, {}, False, "write.distribution"),
    ("iceberg", "upsert", {}, {"spark.sql.iceberg.distribution-mode": "none"}, False, "spark.sql.iceberg"),
]


@pytest.mark.parametrize(("format", "shape", "properties", "conf", "gathered", "setting"), CASES)
def test_what_we_say(format, shape, properties, conf, gathered, setting):
    found = rules(format).write_distribution(shape == "insert", properties, conf)
    assert (found.is_gathered, setting in found.setting) == (gathered, True)


# One case of each format in `make test`, a third of the others in `make test-slow`, the rest nightly.
@pytest.mark.spark
@pytest.mark.parametrize(
    ("format", "shape", "properties", "conf", "gathered", "setting"),
    [
        case if number in (1, 5) else pytest.param(*case, marks=pytest.mark.nightly if number % 3 else pytest.mark.slow)
        for number, case in enumerate(CASES)
    ],
)
def test_what_the_engine_does(spark, format, shape, properties, conf, gathered, setting):
    schema = "ice.distribution" if format == "iceberg" else "distribution"
    table = f"{schema}.t{next(NUMBERS)}"
    told = (
        f"tblproperties ({', '.join(f'{key!r} = {value!r}' for key, value in properties.items())})"
        if properties
        else ""
    )
    spark.sql(f"create schema if not exists {schema}")
    spark.sql(f"create table {table} (id bigint, p int, v string) using {format} partitioned by (p) {told}")
    source = "select id, cast(id % 2 as int) as p, 'b' as v from range(0, 400, 1, 3)"
    tasks = {"spark.sql.shuffle.partitions": "3", "spark.sql.adaptive.coalescePartitions.enabled": "false"}
    with temporary_confs(spark, tasks | conf):
        spark.sql(f"merge into {table} as t using ({source}) as s on t.id = s.id and t.p = s.p {CLAUSES[shape]}")
    files = spark.sql(f"select distinct input_file_name() from {table}").count()
    assert files == (2 if gathered else 6)
