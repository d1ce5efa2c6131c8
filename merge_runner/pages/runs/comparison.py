"""What is different in a run from the runs before it: slower models, more files, other verdicts, new failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any, Literal, get_args

from merge_runner.pages.runs.history import FAILED

Kind = Literal["failed", "verdict-broken", "verdict", "slower", "wider-scan", "more-files"]
_WORST_FIRST: tuple[Kind, ...] = get_args(Kind)

RUNS = 10
"""Earlier runs that a run is compared with."""
_LEAST = 3
"""Earlier runs of a node below which its usual time is not known."""
_FACTOR, _SECONDS = 1.5, 1.0
"""A model is slower where it takes so many times its usual time, and so much longer: a second is the noise of Spark."""
_FILES = 20
"""Files below which their number does not matter, as in the table of merges at the end of a build."""

Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """One difference: the node, what is before and what is now, as values for a reader."""

    id: str
    name: str
    kind: Kind
    before: str
    now: str

    def as_json(self) -> dict[str, str]:
        """The change as JSON values."""
        return asdict(self)


def changes(run: Entry, earlier: Sequence[Entry]) -> list[Change]:
    """Return how the nodes of a run differ from those of `earlier` runs, which are newest first; worst first."""
    runs = [{node["id"]: node for node in entry["nodes"]} for entry in earlier[:RUNS]]
    differences = [
        change
        for node in run["nodes"]
        for change in _changes(node, [nodes[node["id"]] for nodes in runs if node["id"] in nodes])
    ]
    return sorted(differences, key=lambda difference: (_WORST_FIRST.index(difference.kind), difference.name))


def _changes(node: Entry, before: Sequence[Entry]) -> Iterator[Change]:
    if not before:
        return

    def change(kind: Kind, was: str, now: str) -> Change:
        return Change(node["id"], node["name"], kind, was, now)

    last = before[0]
    if node["status"] in FAILED and last["status"] not in (*FAILED, "skipped"):
        yield change("failed", last["status"], node["status"])
    seconds = [
        entry["seconds"] for entry in before if entry["status"] == "success" and entry.get("seconds") is not None
    ]
    if node["status"] == "success" and len(seconds) >= _LEAST:
        usual, now = median(seconds), node.get("seconds") or 0.0
        if now >= _FACTOR * usual and now >= usual + _SECONDS:
            yield change("slower", f"{usual:.1f} s", f"{now:.1f} s")
    yield from (change(*figure) for figure in _figures(node, before))


def _figures(node: Entry, before: Sequence[Entry]) -> Iterator[tuple[Kind, str, str]]:
    """What the figures of a MERGE say."""
    now = node.get("response") or {}
    responses = [entry["response"] for entry in before if entry.get("response")]
    verdict = next((response["verdict"] for response in responses if response.get("verdict")), None)
    if now.get("verdict") and verdict and now["verdict"] != verdict:
        yield "verdict", verdict, now["verdict"]
    verdict_held = next(
        (response["verdict_held"] for response in responses if response.get("verdict_held") is not None), None
    )
    if now.get("verdict_held") is False and verdict_held is not False:
        yield "verdict-broken", f"{now.get('verdict')} held", "the engine scanned otherwise"
    with_files = [response for response in responses if response.get("files_total")]
    total, scanned = now.get("files_total"), now.get("files_scanned")
    if total is None or not with_files:
        return
    first, last = with_files[-1]["files_total"], with_files[0]
    if total >= _FILES and total >= 2 * first:
        yield "more-files", f"{first:,} files", f"{total:,} files"
    share, was = _share(scanned, total), _share(last.get("files_scanned"), last["files_total"])
    if total >= _FILES and share is not None and was is not None and share >= 0.9 and was <= 0.5:
        yield (
            "wider-scan",
            f"{last['files_scanned']:,} of {last['files_total']:,} files",
            f"{scanned:,} of {total:,} files",
        )


def _share(part: int | None, whole: int | None) -> float | None:
    return part / whole if part is not None and whole else None
