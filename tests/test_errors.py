"""Which name is suggested for one that does not exist."""

import pytest

from merge_runner.errors import did_you_mean, nearest


@pytest.mark.parametrize(
    ("word", "known", "suggested"),
    [
        ("biuld", ["build", "clean"], "build"),
        ("clone", ["clean", "lint", "ls"], None),
        ("lineage", ["lint", "ls", "clean"], None),
        ("fct_orders", ["fct_order", "stg_order"], "fct_order"),
        ("FCT_ORDER", ["fct_orders", "fct_order"], "fct_order"),
        ("id", ["ix", "ID"], "ID"),
        ("Status", ["state", "statuses", "STATUS"], "STATUS"),
        ("UPDATED_AT", ["updatd_at"], "updatd_at"),
        ("ran", ["run"], "run"),
        ("x", [], None),
    ],
)
def test_a_name_that_is_close_is_suggested_and_case_makes_no_difference(word, known, suggested):
    assert nearest(word, known) == suggested


def test_few_names_are_listed_where_none_is_close():
    assert did_you_mean("x", ["b", "a"]) == "known are a, b"
    assert did_you_mean("x", map(str, range(13))) is None
