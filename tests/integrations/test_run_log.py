"""The lines that the log of an orchestrator's run has of events."""

import pytest

from merge_runner.integrations.run_log import log_line

RESULT = {"status": "success", "execution_time": 1.5, "message": "3 inserted"}
BATCH = {"start": "2026-01-01", "end": "2026-01-02", "status": "error", "seconds": 0.25, "message": "Division by zero"}


@pytest.mark.parametrize(
    ("event", "line"),
    [
        ({"event": "node_finished", "label": "m", "result": RESULT}, ("info", "success m in 1.50 s: 3 inserted")),
        (
            {
                "event": "node_finished",
                "label": "m",
                "result": {**RESULT, "status": "partial success", "message": None},
            },
            ("error", "partial success m in 1.50 s"),
        ),
        (
            {"event": "node_batch_finished", "label": "m", "batch": BATCH},
            ("error", "error m 2026-01-01/2026-01-02 in 0.25 s: Division by zero"),
        ),
        (
            {"event": "node_batch_finished", "label": "m", "batch": {**BATCH, "status": "no-op", "message": None}},
            ("info", "no-op m 2026-01-01/2026-01-02 in 0.25 s"),
        ),
        ({"event": "node_started", "label": "m"}, ("debug", "started m")),
        ({"event": "message", "level": "warn", "message": "slow"}, ("warning", "slow")),
        ({"event": "running"}, None),
    ],
)
def test_the_line_of_an_event(event, line):
    assert log_line(event) == line
