"""The variants of a MERGE: the statements that a run may send, in their order, known before one is sent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from merge_runner.formats.capabilities import Capabilities
    from merge_runner.plan.steps.merge import RunMerge
    from merge_runner.plan.steps.runtime_filter import FilterPlan
    from merge_runner.pruning.runtime_filter.source_pinning import SourcePin

Name = Literal["as written", "runtime filter", "pinned source", "materialized source", "view of the source"]
"""What a variant is called in a response: what it adds to the author's text."""

Branch = Literal["always", "with the filter"]
"""When a variant runs on a temporary branch of the table: always, or where a runtime filter has been derived."""

Failure = Literal["changed mark", "unread source"]
"""Why another variant is tried. Nothing was written by the one that failed so.

changed mark    another writer has changed what the source reads of the target since it was read for the runtime filter
unread source   the engine cannot read the source as it is written (`formats/failures.UNREADABLE`)
"""

CHANGED = "another writer has changed what the source reads of the target"
_MAY_CHANGE = "the source reads the target, and a commit of another process to it would not be noticed"
_FAILURES = {"changed mark": CHANGED, "unread source": "the engine cannot read the source as it is written"}


@dataclass(frozen=True)
class Variant:
    """One statement that a MERGE may run as.

    `after` is the failure of the one before that lets it be tried; None: it is the first. `branch` None: it runs on the
    table itself. `over_view`: a view is made of its source, and read in its place.
    """

    name: Name
    adds: str
    after: Failure | None = None
    bounding: FilterPlan | None = None
    fixing: SourcePin | None = None
    branch: Branch | None = None
    over_view: bool = False

    def __str__(self) -> str:
        where = ", on a temporary branch" if self.branch is not None else ""
        if self.after is None:
            return f"sent: {self.name}{where}"
        return f"else, where {_FAILURES[self.after]}: {self.name} ({self.adds}){where}"


def variants(
    step: RunMerge, capabilities: Capabilities, *, alone: bool = False, writes_main: bool = True
) -> tuple[Variant, ...]:
    """Return the variants of a MERGE in the order in which they are tried.

    `alone`: no other process can write the table meanwhile. `writes_main`: the session writes the main branch, so that
    a statement can run on a temporary one.
    """
    return tuple(_variants(step, capabilities, alone, writes_main))


def _variants(step: RunMerge, capabilities: Capabilities, alone: bool, writes_main: bool) -> Iterator[Variant]:
    expect, bounding = step.expect, step.bounding
    is_tried_first = expect is not None and expect.on_branch and writes_main
    # What is counted beforehand has to be what the MERGE sees; what it has done on a branch is known.
    counts_source = expect is not None and (expect.limits.about_source or not is_tried_first)
    fixing = expect.fixing if expect is not None and counts_source else None
    always: Branch | None = "always" if is_tried_first else None
    branch = always
    # Another writer's commit to what the source has read must fail the MERGE: by the engine, or by the branch.
    is_noticed = alone or is_tried_first or capabilities.conflicts_with_source_reads
    if bounding is not None and bounding.pin.marks and bounding.left_out is None and not is_noticed:
        if bounding.on_branch and writes_main:
            branch = "with the filter"
        else:
            bounding = replace(bounding, left_out=_MAY_CHANGE)
    yield _first(bounding, fixing, branch)
    marks = bounding.pin.marks if bounding is not None and bounding.left_out is None else ()
    if marks or (fixing is not None and fixing.marks):
        without = replace(bounding, left_out=f"{CHANGED} meanwhile") if bounding is not None else None
        yield Variant("as written", "the source reads the target itself, once", "changed mark", without, None, always)
    if capabilities.leaves_subqueries_unread:
        adds = "a temporary view of the source is read in its place"
        yield Variant("view of the source", adds, "unread source", bounding, fixing, branch, over_view=True)
    elif step.judged.source_pin.left_out is None:
        whole = replace(bounding, pin=replace(bounding.pin, scan=None)) if bounding is not None else None
        once = replace(step.judged.source_pin, scan=None)
        adds = "the rows of the source are computed before"
        yield Variant("materialized source", adds, "unread source", whole, once, branch)


def _first(bounding: FilterPlan | None, fixing: SourcePin | None, branch: Branch | None) -> Variant:
    if bounding is not None and bounding.left_out is None:
        return Variant("runtime filter", str(bounding), None, bounding, fixing, branch)
    if fixing is not None and fixing.left_out is None:
        adds = "the source that is counted is the one that is merged"
        return Variant("pinned source", adds, None, bounding, fixing, branch)
    return Variant("as written", "nothing", None, bounding, fixing, branch)
