"""Start merge-runner in the session of the task."""

import sys

from pyspark.sql import SparkSession

SparkSession.builder.getOrCreate()

from merge_runner.cli.main import main  # noqa: E402 -- after the session

main(sys.argv[1:])
