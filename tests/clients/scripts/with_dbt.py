"""Runs in an environment with dbt-spark: PROJECT JARS ROUNDS → JSON of all tables after each build of dbt."""

import json
import os
import sys
from pathlib import Path

import yaml
from dbt.cli.main import dbtRunner
from pyspark.sql import SparkSession

project, jars, rounds = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
os.chdir(project)
# dbt's session method takes the session that there is.
spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.driver.extraClassPath", jars)
    .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")  # for many small statements
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.sql.catalogImplementation", "in-memory")
    .config("spark.sql.warehouse.dir", str(project / "warehouse"))
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.databricks.delta.snapshotPartitions", "1")  # of 50 tasks each statement would wait for
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("ERROR")


def tables():
    found = {}
    for table in spark.sql("show tables in from_dbt").collect():
        if not table.isTemporary:
            frame = spark.table(f"from_dbt.{table.tableName}")
            rows = sorted(([str(value) for value in row] for row in frame.collect()), key=str)
            found[table.tableName] = {
                "columns": [[each.name, each.dataType.simpleString()] for each in frame.schema],
                "rows": rows,
            }
    return found


report = []
for number, statements in enumerate(yaml.safe_load(rounds.read_text()), 1):
    for statement in statements:
        spark.sql(statement)
    built = dbtRunner().invoke(["build", "--quiet", "--profiles-dir", ".", "--vars", f"{{round: {number}}}"])
    failed = [
        f"{each.node.name}: {each.message}"
        for each in built.result or ()
        if str(each.status) not in ("success", "pass")
    ]
    report.append({"failed": failed or ([str(built.exception)] if built.exception else []), "tables": tables()})
sys.stdout.write("REPORT " + json.dumps(report) + "\n")
