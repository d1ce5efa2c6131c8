"""The vars of a partition."""

from datetime import datetime, timedelta, timezone

import pytest

from merge_runner.integrations.windows import event_time_arguments, window_vars

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


@pytest.mark.parametrize(
    ("start", "end", "texts"),
    [
        (DAY, DAY + timedelta(days=1), ["2026-01-31", "2026-02-01"]),
        (DAY, DAY + timedelta(hours=1), ["2026-01-31", "2026-01-31 01:00:00"]),
        (DAY.astimezone(timezone(timedelta(hours=-5))), DAY + timedelta(days=1), ["2026-01-31", "2026-02-01"]),
        (DAY.replace(tzinfo=None), DAY.replace(tzinfo=None, hour=6), ["2026-01-31", "2026-01-31 06:00:00"]),
    ],
)
def test_the_batches_of_a_window(start, end, texts):
    assert event_time_arguments(start, end) == ["--event-time-start", texts[0], "--event-time-end", texts[1]]


@pytest.mark.parametrize("template", ["{begin}", "{}", "{0}", "{start"])
def test_a_mistake_names_the_var_and_what_there_is(template):
    with pytest.raises(ValueError, match=r"the var 'from' is .* `\{start\}`, `\{end\}` and `\{last\}`"):
        window_vars({"from": template}, DAY, DAY)
