"""Which stamps are of one writer."""

from __future__ import annotations

import json

import pytest

from merge_runner.engine.table_format.commit_metadata import (
    is_of_a_statement,
    of_hook,
    of_maintenance,
    same_node,
    same_writer,
    stamp,
    written_by,
)

OWN = stamp("run 1", "model.shop.orders")


def _with_more(text: str) -> str:
    """The stamp of a version that writes a field more, in another order."""
    return json.dumps({"merge_runner": {"later": "x", **json.loads(text)["merge_runner"]}, "other": 1})


@pytest.mark.parametrize(
    ("text", "writer", "node", "statement"),
    [
        pytest.param(OWN, True, True, True, id="the same"),
        pytest.param(stamp("run 1", "model.shop.orders", "a1" * 8), True, True, True, id="with the hash of a text"),
        pytest.param(_with_more(OWN), True, True, True, id="another field"),
        pytest.param(stamp("run 2", "model.shop.orders"), False, True, True, id="another invocation"),
        pytest.param(stamp("run 1", "model.shop.items"), False, False, True, id="another node"),
        pytest.param(of_hook(OWN, "pre_hook"), False, True, False, id="its hook"),
        pytest.param(of_maintenance(OWN, "vacuum"), False, True, False, id="its maintenance"),
        pytest.param(None, False, False, False, id="no stamp"),
        pytest.param("nightly load", False, False, False, id="text of another writer"),
        pytest.param('{"merge_runner": {"node": ["model.shop.orders"]}}', False, False, False, id="a list as a node"),
        pytest.param('{"merge_runner": 3}', False, False, False, id="JSON of another shape"),
    ],
)
def test_writer_of_a_stamp(text: str | None, writer: bool, node: bool, statement: bool) -> None:
    assert same_writer(text, OWN) == writer
    assert same_node(text, OWN) == node
    assert is_of_a_statement(text) == statement


def test_stamps_of_a_hook_are_of_one_writer_by_their_hook() -> None:
    hook = of_hook(OWN, "pre_hook")
    assert same_writer(_with_more(hook), hook)
    assert not same_writer(of_hook(OWN, "post_hook"), hook)


def test_stamp_says_the_text_where_it_is_known() -> None:
    writers = [written_by(of_hook(stamp("run 1", "model.shop.orders", text), "pre_hook")) for text in ("a1" * 8, None)]
    assert [writer and (writer.node, writer.of, writer.invocation_id, writer.text) for writer in writers] == [
        ("model.shop.orders", "pre_hook", "run 1", text) for text in ("a1" * 8, None)
    ]


def test_text_that_is_no_hash_is_not_known() -> None:
    writer = written_by('{"merge_runner": {"node": "model.shop.orders", "text": {"a": 1}}}')
    assert writer is not None and writer.text is None


def test_other_writers_are_never_the_same_writer() -> None:
    assert not same_writer("nightly load", "nightly load")
