"""Runs statements in a process with a Spark of its own, as another tool does: `python spark_sql.py ROOT < statements.json`.

Spark starts as the profile of the project says. The answer is a list of JSON: the rows of each statement.
"""

import json
import os
import subprocess
import sys
from pathlib import Path


def spark_sql(root, *statements, env=None):
    """Return the rows of each statement as tuples."""
    done = subprocess.run(
        [sys.executable, __file__, root],
        env=dict(os.environ if env is None else env),
        input=json.dumps(statements),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [[tuple(row) for row in rows] for rows in json.loads(done.stdout)]


def main(root):
    sys.path[0] = str(Path(__file__).parents[3])
    from merge_runner import Project
    from merge_runner.engine.startup import start_driver

    profile = Project.load(root).prepared.files.profile
    driver = start_driver(profile, root, root / "sql.spark.log", os.environ)
    try:
        with driver.session() as session:
            answers = [session.sql(text).collect() for text in json.load(sys.stdin)]
    finally:
        driver.stop()
    json.dump([[tuple(row) for row in rows] for rows in answers], sys.stdout, default=str)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
