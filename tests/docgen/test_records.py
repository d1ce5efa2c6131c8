"""The keys of adapter responses and the events are those that the code writes."""

from __future__ import annotations

import ast
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import get_args, get_type_hints

from merge_runner.engine.response import MERGE_FIGURES, PARTS, Changes, MergeFigures, NodeResponse, Remarks, Target
from merge_runner.run.results.event_types import EVENTS
from merge_runner.run.results.results import Status
from tools.docgen.record_pages import STATUS, recorded

PACKAGE = Path(__file__).parents[2] / "merge_runner"


def _filled(kind):
    """A response, or a part of one, in which nothing is None."""
    hints = get_type_hints(kind)
    return kind(**{each.name: _value(hints[each.name]) for each in fields(kind)})


def _value(hint):
    part = next((one for one in (hint, *get_args(hint)) if is_dataclass(one)), None)
    return 1 if part is None else _filled(part)


def test_every_key_of_a_response_is_described():
    documented = {each.name for kind in PARTS for each in recorded(kind)}
    statements = [kind for kind in get_args(get_type_hints(NodeResponse)["statement"]) if is_dataclass(kind)]
    told = [replace(_filled(NodeResponse), statement=_filled(kind)).as_json() for kind in statements]
    told.append(_filled(Remarks).as_json())
    assert {key for each in told for key in each} == documented
    assert told[0]["changes"] == {"of": 1, "from_version": 1, "to_version": 1}
    assert list(told[0]["optimized"])[:2] == ["operation", "files_added"]


def test_what_does_not_apply_is_missing_and_what_is_not_known_is_null():
    assert NodeResponse().as_json() == {}
    response = NodeResponse(target=Target(created=False), statement=MergeFigures.unknown())
    assert response.as_json() == {
        "created": False,
        "operation": "MERGE",
        **dict.fromkeys(MERGE_FIGURES),
        "metrics": {},
    }
    response = NodeResponse()
    response.found_commit(7)
    assert response.as_json() == {"table_version": 7}
    response.statement = MergeFigures.of({"rows_inserted": 3}, {})
    response.found_commit(8, "MERGE")
    assert (response.table_version, response.merge.rows_inserted) == (8, 3)


def test_texts_are_changed_at_every_depth():
    response = NodeResponse(branch="a", changes=Changes("a", 1, 2), target=Target(created=True, altered=["a"]))
    changed = response.with_texts(lambda value: [each.upper() for each in value] if value == ["a"] else value)
    assert changed == replace(response, target=Target(created=True, altered=["A"]))
    changed = response.with_texts(lambda value: value.upper() if isinstance(value, str) else value)
    assert (changed.branch, changed.changes.of) == ("A", "A")


def test_every_event_is_emitted():
    wanted = {kind.__name__ for kind in EVENTS.values()}
    texts = (file.read_text(encoding="utf-8") for file in PACKAGE.rglob("*.py"))
    trees = (ast.parse(text) for text in texts if any(name in text for name in wanted))
    calls = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call))
    assert wanted <= {call.func.id for call in calls if isinstance(call.func, ast.Name)}


def test_every_status_is_described():
    assert set(STATUS) == set(get_args(Status))
