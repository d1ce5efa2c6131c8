"""How items of a sort order compare."""

import pytest

from merge_runner.engine.tables.drift import sort_key


@pytest.mark.parametrize(
    ("declared", "real"),
    [
        ("id", "id ASC NULLS FIRST"),
        ("ID desc", "id DESC NULLS LAST"),
        ("id asc nulls last", "id ASC NULLS LAST"),
        ("`id`", "id ASC NULLS FIRST"),
        ("bucket(8, id) desc nulls first", "bucket(8, id) DESC NULLS FIRST"),
        ("truncate(3, name)", "truncate(name, 3) ASC NULLS FIRST"),
        ("days(ts)", "days(ts) ASC NULLS FIRST"),
    ],
)
def test_an_order_is_the_same_however_it_is_spelled(declared, real):
    assert sort_key(declared) == sort_key(real)


@pytest.mark.parametrize("other", ["id desc", "id nulls last", "other", "bucket(8, id)"])
def test_another_order_differs(other):
    assert sort_key(other) != sort_key("id")
