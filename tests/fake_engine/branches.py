"""Branches of the tables of a lake: each is a table of its own, which begins as a copy of main."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from merge_runner.engine.spark.errors import engine_error
from merge_runner.engine.table_format.branches import Branch, ChangedRows, State
from merge_runner.formats.branches import MAIN
from tests.fake_engine.faults import raised
from tests.fake_engine.lake import Table, dotted

if TYPE_CHECKING:
    from merge_runner.relation import Relation
    from tests.fake_engine.session import FakeSession


class FakeBranches:
    """Branches in memory. A snapshot's id is its place in the history of its branch."""

    def heads(self, session: FakeSession, table: Relation) -> Mapping[str, int]:
        """Return the newest version of each branch."""
        found = _table(session, table)
        return {MAIN: found.version, **{name: branch.version for name, branch in found.branches.items()}}

    def begin(self, session: FakeSession, table: Relation, branch: str) -> None:
        """Create a branch unless it is there."""
        found = _table(session, table)
        if branch not in found.branches:
            found.branches[branch] = found.copied()

    create = begin

    def reference(self, table: Relation, branch: str) -> str:
        """Return the name of a branch in a statement, as on Iceberg."""
        return f"{table}.`branch_{branch}`"

    def find(self, session: FakeSession, table: Relation, branch: str) -> Branch | None:
        """Return a branch as it is now."""
        found = _table(session, table)
        made = found.branches.get(branch)
        if made is None:
            return None
        shorter = min(len(found.commits), len(made.commits))
        state: State = "moved"
        if found.commits[:shorter] == made.commits[:shorter]:
            state = "ahead" if len(made.commits) > shorter else "published"
        return Branch(table, branch, made.version, found.version, state)

    def changed_rows(self, session: FakeSession, table: Relation, snapshot: int) -> ChangedRows:
        """Return the rows of the MERGE that made a version of some branch."""
        made = (branch.commits for branch in _table(session, table).branches.values())
        metrics = next(commits[snapshot].metrics for commits in made if len(commits) > snapshot)
        return ChangedRows(*(int(metrics[kind]) for kind in ("inserted", "updated", "deleted")))

    def fast_forward(self, session: FakeSession, branch: Branch) -> None:
        """Move main to a branch; the faults of `publish NAME` happen."""
        found = _table(session, branch.table)
        fault, after = session.driver.faults.next(f"publish {found.short}")
        if fault == "conflict":
            session.driver.lake.commit(found, "WRITE")
        if fault is None or after:
            now = self.find(session, branch.table, branch.name)
            if now is None or now.state == "moved":
                raise engine_error(raised("fails"))
            session.driver.lake.forward(found, branch.name)
        _fail(session, fault)

    def drop(self, session: FakeSession, table: Relation, branch: str) -> None:
        """Drop a branch; the faults of `drop NAME` happen."""
        found = _table(session, table)
        fault, after = session.driver.faults.next(f"drop {found.short}")
        if fault is None or after:
            found.branches.pop(branch, None)
        _fail(session, fault)


def _table(session: FakeSession, table: Relation) -> Table:
    session.driver.check()
    return session.driver.lake.tables[dotted(str(table))]


def _fail(session: FakeSession, fault: str | None) -> None:
    if fault == "lost":
        session.driver.die()
    if fault is not None:
        raise engine_error(raised(fault))
