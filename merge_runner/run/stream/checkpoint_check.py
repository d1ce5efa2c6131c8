"""Whether a stream may go on from its checkpoint: what its targets know of its batches must agree with it.

A target skips the batches that it has committed. With a checkpoint that starts at zero again, or is older than the
target, it would silently skip new rows in the same way.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from merge_runner.engine.stream.checkpoint import CheckpointState, Note
from merge_runner.errors import Problem
from merge_runner.plan.nodes.streams import StreamInput
from merge_runner.text import Place

_START_OVER = "or start over: set another `checkpoint` and a higher `generation` in the stream's YAML"


@dataclass(frozen=True)
class Target:
    """What is known of the table of a model that a stream feeds: the highest batch of the stream that it has committed.

    A MERGE without a change commits its batch as well, on Delta 4.4.0 and on Iceberg 1.12.0.
    """

    name: str
    recorded: int | None


@dataclass(frozen=True)
class CheckpointVerdict:
    """`problems` forbid to go on; `warnings` say what a user should know."""

    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()


def judge_checkpoint(
    stream: StreamInput,
    state: CheckpointState,
    targets: Mapping[str, Target],
    models: Collection[str],
    place: Place | None = None,
) -> CheckpointVerdict:
    """Return whether a stream may go on. `targets` are its merges by id, `models` the ids of all models."""
    faults: list[tuple[str, str]] = []
    where = f"stream {stream.name}: the checkpoint {stream.checkpoint}"
    if state.note is None and state.planned >= 0:
        faults.append((f"{where} was made by something else", "give the stream a separate folder"))
    if state.note is not None and state.note.application != stream.application:
        message = f"{where} belongs to {state.note.application}, and this stream is {stream.application}"
        faults.append((message, "give the stream a separate folder"))
    for target in targets.values():
        if target.recorded is not None and target.recorded > state.planned:
            has = f"has come to batch {state.planned}" if state.planned >= 0 else "is new"
            message = (
                f"{where} {has}, and {target.name} has committed batch {target.recorded}: it would "
                "silently skip new rows up to that batch"
            )
            faults.append((message, f"bring back the checkpoint that made it, {_START_OVER}"))
    read_before = state.note.models if state.note is not None else ()
    left_out = [model for model in read_before if model in models and model not in stream.direct]
    if left_out and not faults:
        names = ", ".join(model.rpartition(".")[2] for model in left_out)
        message = f"stream {stream.name} feeds {names} as well: what is read without them would pass them by"
        faults.append((message, f"select them too, {_START_OVER}, for a stream without them"))
    problems = tuple(Problem("checkpoint", message, place, hint) for message, hint in faults)
    return CheckpointVerdict(problems, () if problems else tuple(_warnings(stream, state, targets)))


def _warnings(stream: StreamInput, state: CheckpointState, targets: Mapping[str, Target]) -> list[str]:
    warnings = []
    read_before = state.note.models if state.note is not None else ()
    for unique_id, target in targets.items():
        if state.done < 0 or unique_id not in stream.direct:
            continue
        if unique_id not in read_before:
            warnings.append(
                f"{target.name} is new to the stream {stream.name}: it gets what comes after batch {state.done}"
            )
        elif target.recorded is None:
            warnings.append(
                f"{target.name} knows nothing of the stream {stream.name}, which has come to batch {state.done}: "
                "it was replaced or dropped, and gets only what comes now"
            )
    return warnings


def note(stream: StreamInput, state: CheckpointState, project_models: Collection[str]) -> Note:
    """What to note in the checkpoint of a stream that goes on: the models that have read it, and read it now."""
    before = state.note.models if state.note is not None else ()
    models = dict.fromkeys([*(model for model in before if model in project_models), *stream.direct])
    return Note(stream.application, tuple(models))
