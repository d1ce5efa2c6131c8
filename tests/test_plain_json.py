"""Values as JSON can hold them."""

from datetime import datetime
from decimal import Decimal

import pytest
from pydantic import TypeAdapter

from merge_runner.plain_json import plain
from merge_runner.project.schema.config import ModelConfig
from merge_runner.text import Span

CONFIG = {
    "materialized": "merge",
    "tags": "nightly",
    "meta": {"owner": "ann", "since": datetime(2026, 1, 2), "steps": [1, 2.5, None]},
    "contract": {"enforced": True},
    "build_after": {"count": 3, "period": "hour"},
    "optimize": {"zorder_by": ["a", "b"]},
    "expect_merge": {"max_deletes": 0},
    "timeout": "5 minutes",
}


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ((1, [2.5], {"a": None}), [1, [2.5], {"a": None}]),
        ({1: True}, {"1": True}),
        (frozenset("ba"), ["a", "b"]),
        (float("nan"), "nan"),
        (datetime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05"),
        (Decimal("1.10"), "1.10"),
        (b"x", "b'x'"),
        ([Span(1, 2)], [{"start": 1, "end": 2}]),
        (Span, str(Span)),
    ],
)
def test_values_become_what_json_can_hold(value, shown):
    assert plain(value) == shown


def test_a_config_is_written_as_pydantic_writes_it():
    adapter = TypeAdapter(ModelConfig)
    for written in ({}, CONFIG):
        config = adapter.validate_python(written)
        assert config.as_json() == adapter.dump_python(config, mode="json")
