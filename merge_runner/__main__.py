"""`python -m merge_runner` is the command `merge-runner`."""

from merge_runner.cli.main import process

process()
