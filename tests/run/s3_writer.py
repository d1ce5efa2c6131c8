"""One of several writers of a table in an object store, with a Spark driver of its own.

    python s3_writer.py ROOT NAME TIMES

runs the project's MERGE, TIMES times. With NAME `raw…` the same number of INSERTs goes to Spark itself, without the
locks of the runner: what keeps them apart then is how Delta commits. Each that was acknowledged is a line of NAME.txt.
"""

import os
import sys
from pathlib import Path


def main(root, name, times):
    sys.path[0] = str(Path(__file__).parents[2])
    from merge_runner import Project
    from merge_runner.engine.spark.errors import EngineError, Kind, engine_error
    from merge_runner.engine.startup import start_driver

    profile = Project.load(root).prepared.files.profile
    driver = start_driver(profile, root, root / f"{name}.spark.log", os.environ)
    try:
        with (root / f"{name}.txt").open("w", buffering=1) as acknowledged, driver.session() as session:
            if name.startswith("raw"):
                session.sql(f"create table raw using delta location '{profile.warehouse}/raw/t'")
            for number in range(times):
                if name.startswith("raw"):
                    session.sql(f"insert into raw values ('{name}', {number})")
                else:
                    results = Project.load(root, target_path=f"target_{name}").build(driver=driver, lint=False)
                    assert results.ok, [result.message for result in results.results]
                acknowledged.write(f"{number}\n")
    except Exception as error:
        found: EngineError = engine_error(error)
        sys.stderr.write(f"{found} {found.kind is Kind.CONFLICT}\n")
        raise
    finally:
        driver.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
