"""Builds and streams that are killed, JVM and all, and gone on with, at moments spread over all that they do.

A kill may hit what goes on with a killed run, so that one JVM is start and end of a case; `python -m tests.run.kills.kill_report`
kills at every moment, each by itself.
"""

import pytest

from merge_runner.formats.lines import installed_line
from tests.reports import write_report
from tests.run.kills.kills import Lane, reader, run, summary

pytestmark = pytest.mark.slow
NO_ICEBERG = pytest.mark.skipif("iceberg" not in installed_line().formats, reason="no build")

CASES = [
    pytest.param("batch", [("45+0.2",)], id="batch", marks=[pytest.mark.lines, NO_ICEBERG]),
    pytest.param("batch", [("34", "45+0.2")], id="batch, twice", marks=pytest.mark.nightly),
    pytest.param("first", [("36", "47")], id="first", marks=pytest.mark.nightly),
    pytest.param("again", [("22", "51")], id="again", marks=pytest.mark.nightly),
]
"""Scenarios, and the moments at which each is killed, and then what goes on with it, one after the other: a few of those
that `python -m tests.run.kills.kill_report` has. Streams take longer still: they are killed by `kill_report stream`, and at two
of their moments in test_stream_killed.py."""


@pytest.mark.parametrize(("scenario", "kills"), CASES)
def test_no_row_is_lost_and_no_commit_reported_that_did_not_happen(scenario, kills, tmp_path, spark, request):
    with Lane(scenario, tmp_path, reader(spark)) as lane:
        found = run([lane], kills)
    text, well = summary(found)
    lines = [f"- {line}" for line in (*map(str, found), f"{scenario}: {text}")]
    write_report(f"kills-{request.node.callspec.id}.md", "\n".join(lines))
    assert well
