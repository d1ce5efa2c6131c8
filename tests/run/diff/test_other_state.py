"""Which version of a table was there before a run."""

import pytest

from merge_runner.engine.table_format.commit_metadata import of_hook, stamp
from merge_runner.engine.table_format.protocol import Commit
from merge_runner.run.diff.other_state import version_before

OWN, EARLIER = stamp("this", "model.shop.m"), stamp("earlier", "model.shop.m")


def commits(*stamps):
    """Commits, newest first; the oldest has the version 0."""
    return [Commit(len(stamps) - 1 - at, "MERGE", text, {}, 0) for at, text in enumerate(stamps)]


@pytest.mark.parametrize(
    ("stamps", "version"),
    [
        ([OWN, EARLIER], 0),
        ([OWN, of_hook(OWN, "pre_hook"), EARLIER, EARLIER], 1),
        ([None, OWN, EARLIER], 0),
        ([OWN, "by hand", OWN, EARLIER, EARLIER], 1),
        ([EARLIER, None], 1),
        ([OWN], None),
        ([None, OWN], None),
        ([], None),
        ([*[None] * 50, OWN, EARLIER], 0),
        ([*[None] * 51, OWN, EARLIER], 52),
    ],
    ids=[
        *("its MERGE", "with its hook", "another writer since", "another writer between"),
        *("it committed nothing", "it made the table", "it made the table, others wrote", "no table"),
        *("50 commits of others", "more commits of others"),
    ],
)
def test_the_version_before_is_below_the_first_commit_of_a_run(stamps, version):
    assert version_before(commits(*stamps), "this") == version
