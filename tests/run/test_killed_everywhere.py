"""Builds and streams that are killed, JVM and all, and gone on with, at moments spread over all that they do.

Most kills hit what goes on with a killed run, so that one JVM is start and end of a case; `python -m tests.run.kill_report`
kills at every moment, each by itself.
"""

import sys

import pytest

from tests.run.kills import Lane, reader, run, summary

pytestmark = pytest.mark.slow

CASES = {
    "first": [("36", "47")],
    "again": [("22", "51")],
    "batch": [("34", "45+0.2")],
}
"""Moments at which each is killed, and then what goes on with it, one after the other: a few of those that
`python -m tests.run.kill_report` has. Streams take longer still: they are killed by `kill_report stream`, and at two of
their moments in test_stream_killed.py."""


@pytest.mark.parametrize(
    "scenario", [pytest.param(name, marks=[] if name == "batch" else pytest.mark.nightly) for name in CASES]
)
def test_nothing_is_lost_and_nothing_told_that_did_not_happen(scenario, tmp_path, spark, capsys):
    with Lane(scenario, tmp_path, reader(spark)) as lane:
        found = run([lane], CASES[scenario])
    text, well = summary(found)
    with capsys.disabled():
        sys.stdout.write("\n".join(["", *map(str, found), f"{scenario}: {text}", ""]))
    assert well
