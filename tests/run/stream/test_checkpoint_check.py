"""Whether a stream may go on from its checkpoint, as data."""

from pathlib import Path

import pytest

from merge_runner.engine.stream.checkpoint import CheckpointState, Note
from merge_runner.plan.nodes.streams import StreamInput
from merge_runner.relation import Relation
from merge_runner.run.stream.checkpoint_check import Target, judge_checkpoint, note
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).parent / "checkpoints.yml")
STREAM = StreamInput(
    "source.shop.raw.orders",
    "raw.orders",
    Relation("raw__orders", "global_temp"),
    "json",
    "/checkpoints/orders",
    "shop.raw.orders",
    direct=("eu", "us"),
    fed=("eu", "us"),
)


def state_of(case):
    told = case.get("state", {})
    noted = Note(told["application"], tuple(told["models"])) if "application" in told else None
    return CheckpointState(told.get("planned", -1), told.get("done", -1), noted)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_what_is_said_of_it(case):
    targets = {name: Target(name, batch) for name, batch in case["targets"].items()}
    judged = judge_checkpoint(STREAM, state_of(case), targets, case.get("known", ["eu", "us"]))
    for found, wanted in ((judged.problems, "problems"), (judged.warnings, "warnings")):
        texts = [getattr(each, "message", each) for each in found]
        assert len(texts) == len(case.get(wanted, [])), texts
        assert all(part in text for part, text in zip(case.get(wanted, []), texts, strict=True)), texts
    assert all(problem.hint for problem in judged.problems)


def test_the_note_keeps_who_was_fed_as_long_as_they_are_there():
    state = CheckpointState(2, 2, Note("shop.raw.orders", ("asia", "gone", "eu")))
    assert note(STREAM, state, ["eu", "us", "asia"]) == Note("shop.raw.orders", ("asia", "eu", "us"))
