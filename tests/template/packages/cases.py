"""The patterns of merge_patterns as models of one shape, with random sources and what they promise.

Keys are (history, id): one statement can run many histories at the same time. Values are few, so that rows meet; NULL
is one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.template.packages import promises
from tests.template.packages.promises import COLUMNS, KEYS, TIME, Batch, Promise, Row

Rows = st.SearchStrategy[list[Row]]

IDS = range(3)
_TIMES = st.integers(0, 5)
_VALUES = {"a": st.sampled_from([None, "x", "y", "1:x"]), "b": st.sampled_from([None, 0, 1])}


@dataclass(frozen=True)
class Case:
    """A pattern: its call, the columns of its source and table with their types, its config, and how to make batches.

    `rows` makes the rows of one batch for one history; `vars` those of the n-th run.
    """

    call: str
    source: Mapping[str, str]
    table: Mapping[str, str]
    config: str
    verdict: str
    rows: Callable[[int], Rows]
    promise: Promise
    vars: Callable[[int], st.SearchStrategy[dict[str, Any]]] = lambda _nth: st.just({})

    def batches(self, runs: int, histories: int = 1) -> st.SearchStrategy[list[Batch]]:
        """Make the sources of some runs."""

        def one(nth: int) -> st.SearchStrategy[Batch]:
            of_all = st.tuples(*(self.rows(history) for history in range(histories)))
            return st.builds(
                lambda found, given: Batch([row for rows in found for row in rows], given), of_all, self.vars(nth)
            )

        return st.tuples(*(one(nth) for nth in range(runs))).map(list)

    @property
    def arguments(self) -> str:
        """The model's text."""
        return f"{{{{ config({self.config}) }}}}\n\n{{{{ merge_patterns.{self.call} }}}}\n"


def _rows(unique: Sequence[str] = (), most: int = 6, **columns: st.SearchStrategy[Any]) -> Callable[[int], Rows]:
    def make(history: int) -> Rows:
        row = st.fixed_dictionaries({"history": st.just(history), "id": st.sampled_from(IDS), **columns})
        by = (lambda found: tuple(found[name] for name in unique)) if unique else None
        return st.lists(row, max_size=most, unique_by=by)

    return make


def _events(history: int) -> Rows:
    """Events of a log, where a position says which it is: delivered in any order, any number of times."""

    def event(key: int, position: int) -> Row:
        seed = (key * 31 + position * 17 + history) % 12
        value = {"a": [None, "x", "y"][seed % 3], "b": [None, 0, 1][seed // 3 % 3]}
        kind = ["I", "U", "D", None][(key + position * position) % 4]
        return {"history": history, "id": key, **value, "position": position, "op": kind}

    return st.lists(st.builds(event, st.sampled_from(IDS), st.integers(0, 7)), max_size=6)


_KEY_TYPES = dict.fromkeys(KEYS, "int")
_VALUE_TYPES = {"a": "string", "b": "int"}
_PLAIN = {**_KEY_TYPES, **_VALUE_TYPES}
_TIMED = {**_PLAIN, TIME: "int"}
_CLUSTERED = "cluster_by=['history', 'id']"
_GIVEN = f"source('given', '%s'), keys={list(KEYS)}"
_WITH_COLUMNS = f"{_GIVEN}, columns={list(COLUMNS)}"
_VERSIONS = {"valid_from": "int", "valid_to": "int", "is_current": "boolean"}
_HISTORY = "unique_key=['history', 'id', 'valid_from']"

CASES: Mapping[str, Case] = {
    "upsert": Case(
        f"upsert({_WITH_COLUMNS})",
        _PLAIN, _PLAIN, _CLUSTERED, "runtime", _rows(unique=["id"], **_VALUES), promises.upsert,
    ),
    "scd1": Case(
        f"scd1({_WITH_COLUMNS}, sequence_by='{TIME}')",
        _TIMED, _TIMED, _CLUSTERED, "runtime", _rows(**_VALUES, seen_at=_TIMES), promises.scd1,
    ),
    "scd2": Case(
        f"scd2({_WITH_COLUMNS}, updated_at='{TIME}')",
        _TIMED, {**_PLAIN, "row_hash": "string", **_VERSIONS}, f"{_CLUSTERED}, {_HISTORY}", "static",
        _rows(**_VALUES, seen_at=_TIMES), promises.scd2,
    ),
    "cdc": Case(
        f"cdc({_WITH_COLUMNS}, sequence_by='position')",
        {**_PLAIN, "position": "int", "op": "string"}, {**_PLAIN, "position": "int", "is_deleted": "boolean"},
        _CLUSTERED, "runtime", _events, promises.cdc,
    ),
    "soft_delete": Case(
        f"soft_delete({_WITH_COLUMNS}, updated_at='{TIME}')",
        {**_TIMED, "is_deleted": "boolean"}, {**_TIMED, "deleted_at": "int"}, _CLUSTERED, "runtime",
        _rows(**_VALUES, seen_at=_TIMES, is_deleted=st.sampled_from([None, False, True])), promises.soft_delete,
    ),
    "insert_only": Case(
        f"insert_only({_WITH_COLUMNS}, order_by='{TIME}')",
        _TIMED, _TIMED, _CLUSTERED, "runtime", _rows(**_VALUES, seen_at=_TIMES), promises.insert_only,
    ),
    "snapshot_partition": Case(
        f"snapshot_partition(source('given', '%s'), {{'day': var('day')}}, {list(KEYS)}, {list(COLUMNS)})",
        {"day": "int", **_PLAIN}, {"day": "int", **_PLAIN}, "partition_by=['day']", "static",
        _rows(**_VALUES, day=st.sampled_from([1, 2])), promises.snapshot_partition,
        lambda _nth: st.fixed_dictionaries({"day": st.sampled_from([1, 2])}),
    ),
    "late_facts": Case(
        f"late_facts({_WITH_COLUMNS}, sequence_by='{TIME}', window=['id', var('first'), var('end')])",
        _TIMED, _TIMED, "partition_by=['id']", "static", _rows(**_VALUES, seen_at=_TIMES), promises.late_facts,
        lambda _nth: st.fixed_dictionaries({"first": st.sampled_from([0, 1]), "end": st.sampled_from([2, 3])}),
    ),
    "accumulating_snapshot": Case(
        f"accumulating_snapshot({_GIVEN}, milestones={list(COLUMNS)})",
        {**_KEY_TYPES, "a": "int", "b": "int"}, {**_KEY_TYPES, "a": "int", "b": "int"}, _CLUSTERED, "runtime",
        _rows(a=st.sampled_from([None, 1, 2, 3]), b=st.sampled_from([None, 1, 2, 3])), promises.accumulating_snapshot,
    ),
    "history_by_source": Case(
        f"history_by_source({_WITH_COLUMNS}, as_of=var('as_of'))",
        _PLAIN, {**_PLAIN, **_VERSIONS}, f"scan='full', {_HISTORY}", "none",
        _rows(unique=["id"], **_VALUES), promises.history_by_source, lambda nth: st.just({"as_of": 10 + nth}),
    ),
    "gdpr_delete": Case(
        f"gdpr_delete({_GIVEN})",
        _PLAIN, _PLAIN, _CLUSTERED, "runtime", _rows(unique=["id"], **_VALUES), promises.gdpr_delete,
    ),
}  # fmt: skip
