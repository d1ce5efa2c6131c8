"""The vars of a partition."""

from datetime import datetime, timedelta, timezone

import pytest

from merge_runner.integrations.windows import window_vars

DAY = datetime(2026, 1, 31, tzinfo=timezone.utc)
BOTH = {"from": "{start}", "to": "{end}"}


@pytest.mark.parametrize(
    ("templates", "start", "end", "expected"),
    [
        (BOTH, DAY, DAY + timedelta(days=1), {"from": "2026-01-31", "to": "2026-02-01"}),
        ({"until": "{last}"}, DAY, DAY + timedelta(days=7), {"until": "2026-02-06"}),
        (BOTH, DAY, DAY + timedelta(hours=1), {"from": "2026-01-31 00:00:00", "to": "2026-01-31 01:00:00"}),
        ({"until": "{last}"}, DAY, DAY + timedelta(hours=1), {"until": "2026-01-31"}),
        ({"day": "{start:%Y%m%d}", "as": "it is"}, DAY, DAY + timedelta(days=1), {"day": "20260131", "as": "it is"}),
        ({}, DAY, DAY, {}),
    ],
)
def test_the_vars_of_a_window(templates, start, end, expected):
    assert window_vars(templates, start, end) == expected


@pytest.mark.parametrize("template", ["{begin}", "{}", "{0}", "{start"])
def test_a_mistake_names_the_var_and_what_there_is(template):
    with pytest.raises(ValueError, match=r"the var 'from' is .* `\{start\}`, `\{end\}` and `\{last\}`"):
        window_vars({"from": template}, DAY, DAY)
