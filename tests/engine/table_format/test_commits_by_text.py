"""How many commits each text of a model has made, as the commits of its table say."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.engine.table_format.commit_metadata import of_hook, of_maintenance, stamp
from merge_runner.engine.table_format.stored_version import StoredVersion, commits_by_text
from merge_runner.graph.model_text import UNKNOWN, OlderRows, count_older

NODE, OTHER = "model.shop.fct", "model.shop.other"
FIRST, SECOND, THIRD, FOURTH = (digit * 16 for digit in "1234")
"""Hashes of texts."""
NEW, OLD = stamp("run", NODE, FIRST), stamp("run", NODE, SECOND)


def counts(*commits):
    """The counts of commits, newest first: a stamp and what it did to rows."""
    versions = [StoredVersion(number, str(number), *commit) for number, commit in enumerate(commits)]
    return commits_by_text(versions).get(NODE, {})


@pytest.mark.parametrize(
    ("commits", "by_text"),
    [
        pytest.param([], {}, id="no commits"),
        pytest.param(
            [(NEW, "changed"), (OLD, "changed"), (OLD, "changed")],
            {FIRST: 1, SECOND: 2},
            id="two texts",
        ),
        pytest.param([(stamp("run", NODE), "changed")], {UNKNOWN: 1}, id="of a version without hashes"),
        pytest.param([(NEW, "changed"), (OLD, "kept")], {FIRST: 1}, id="a new column is no row"),
        pytest.param([(NEW, "replaced"), (OLD, "changed")], {FIRST: 1}, id="CREATE OR REPLACE AS SELECT"),
        pytest.param([(NEW, "changed"), (OLD, "emptied"), (OLD, "changed")], {FIRST: 1}, id="a full refresh"),
        pytest.param([(None, "replaced"), (OLD, "changed")], {}, id="replaced by another writer"),
        pytest.param(
            [(stamp("run", OTHER, SECOND), "changed"), (NEW, "changed")],
            {FIRST: 1},
            id="another model",
        ),
        pytest.param([(of_hook(OLD, "post_hook"), "changed"), (NEW, "changed")], {FIRST: 1}, id="a hook"),
        pytest.param([(of_maintenance(OLD, "vacuum"), "changed"), (NEW, "changed")], {FIRST: 1}, id="maintenance"),
        pytest.param([("nightly", "changed"), (NEW, "changed")], {FIRST: 1}, id="another writer"),
    ],
)
def test_which_commits_count(commits, by_text):
    assert counts(*commits) == by_text


def test_each_model_that_writes_a_table_has_its_own_counts():
    stamps = (NEW, stamp("run", OTHER, FIRST), OLD, stamp("run", OTHER, FOURTH), OLD)
    versions = [StoredVersion(number, str(number), text) for number, text in enumerate(stamps)]
    assert commits_by_text(versions) == {
        NODE: {FIRST: 1, SECOND: 2},
        OTHER: {FIRST: 1, FOURTH: 1},
    }


def test_no_more_than_50_commits_are_read():
    read = iter([StoredVersion(number, str(number), NEW) for number in range(300)])
    assert commits_by_text(read) == {NODE: {FIRST: 50}}
    assert next(read).version == 50


TEXTS = st.sampled_from([FIRST, SECOND, THIRD, None])
ROWS = st.sampled_from(["kept", "changed", "replaced", "emptied"])


@given(st.lists(st.tuples(TEXTS, ROWS)))
def test_counts_are_of_the_commits_since_the_last_replacement(commits):
    by_text = counts(*((stamp("run", NODE, text), rows) for text, rows in commits))
    ends = [number for number, (_, rows) in enumerate(commits) if rows in ("replaced", "emptied")]
    since = commits[: ends[0] + 1] if ends else commits
    made = Counter(text for text, rows in since if rows in ("changed", "replaced"))
    rows = count_older(by_text, FIRST)
    assert rows == OlderRows(made[SECOND] + made[THIRD], made.total(), made[None])
    assert 0 <= rows.older + rows.unknown <= rows.of


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (OlderRows(4, 31), "4 of 31 commits were made by an older text; diff --rebuild shows whether it matters"),
        (OlderRows(0, 1200), "0 of 1,200 commits were made by an older text"),
        (OlderRows(0, 3, 2), "0 of 3 commits were made by an older text, 2 by one that is not known"),
    ],
)
def test_words(rows, words):
    assert str(rows) == words
