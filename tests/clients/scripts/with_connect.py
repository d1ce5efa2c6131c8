"""In an environment with pyspark-client alone: build a project on a Spark Connect server, and report what came of it."""

import importlib.util
import json
import os
import shutil
import sys

from merge_runner import Project
from tests.flights.project_copy import table_fingerprint

root, profiles, settings = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
assert importlib.util.find_spec("py4j") is None
assert shutil.which("java") is None
assert "JAVA_HOME" not in os.environ
project = Project.load(root, profiles_dir=profiles, vars=settings.get("vars"), target=settings.get("target"))
reports = []
for _ in range(settings.get("builds", 1)):
    run = project.build(settings.get("select", ()), settings.get("exclude", ()))
    reports.append(
        {
            result.unique_id: {"status": result.status, "message": result.message, **result.adapter_response}
            for result in run.results
        }
    )
found = {}
tables = settings.get("tables", ())
if tables and run.ok:  # of a build that fails the report says more
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(settings["remote"]).getOrCreate()
    for table in tables:
        print_of = table_fingerprint(session, table)
        found[table] = [print_of.rows, print_of.checksum]
sys.stdout.write("REPORT " + json.dumps({"builds": reports, "tables": found}, default=str) + "\n")
