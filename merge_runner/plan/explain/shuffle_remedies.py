"""What takes a shuffle or a sort out of the plan of a MERGE into an Iceberg table.

What can be tried is tried: the engine plans the statement once more with the confs, or with one more condition in ON,
and what is gone then is what they take away. Properties of a table cannot be tried without altering it: these few go by
rules, which tests/run/builds/test_shuffles.py holds against the engine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from merge_runner.formats.iceberg.capabilities import ICEBERG
from merge_runner.formats.iceberg.write_distribution import CONF as ICEBERG_CONF
from merge_runner.formats.storage_join import FANOUT, LOOSER, SETTINGS, SORT_MERGE
from merge_runner.plan.explain.shuffles import Kind, Purpose, Shuffle, joins_by_partition
from merge_runner.pruning.judge.storage_join import StorageJoin
from merge_runner.pruning.layout.layout import PartitionField

if TYPE_CHECKING:
    from merge_runner.plan.steps.runtime_filter import FilterPlan

CONFS = (*(setting.key for setting in SETTINGS), *LOOSER, ICEBERG_CONF)
"""The confs of the session that are looked at."""


@dataclass(frozen=True)
class Change:
    """Something to change: a key of the model's config, or in its `conf` or `properties`, or a condition of ON."""

    where: Literal["config", "conf", "properties", "on"]
    key: str
    value: str

    def __str__(self) -> str:
        if self.where == "on":
            return f"ON … AND {self.key} = {self.value}"
        if self.where == "config":
            return f"`{self.key}: {self.value}`"
        return f"`{self.key}: '{self.value}'` in {self.where}"  # quoted: a config takes no other values there


Remedy = tuple[Change, ...]
"""Changes that together take a node away."""


@dataclass(frozen=True)
class ShuffleRemedies:
    """A shuffle or sort with all that takes it away, each by itself; where nothing does, `why` says what it is for."""

    shuffle: Shuffle
    remedies: tuple[Remedy, ...] = ()
    why: str | None = None

    def __str__(self) -> str:
        node = f"{self.shuffle.kind} ({self.shuffle.number}) {self.shuffle.words}"
        if not self.remedies:
            return f"{node}; no setting removes it: {self.why}"
        return f"{node}; removed by {', or by '.join(' and '.join(map(str, remedy)) for remedy in self.remedies)}"

    def as_json(self) -> dict[str, Any]:
        """It as JSON values."""
        shuffle = self.shuffle
        return {
            "node": shuffle.kind,
            "number": shuffle.number,
            "purpose": shuffle.purpose,
            "side": shuffle.side,
            "text": shuffle.words,
            "remedies": [[asdict(change) for change in remedy] for remedy in self.remedies],
            "why": self.why,
        }


@dataclass(frozen=True)
class Circumstances:
    """What the plan of a MERGE depends on.

    `session` are those CONFS that its session has; `conf` and `declared` are the confs and properties of the model's
    config. `properties` are those that the target really has, `fields` its partition fields, `sorted` whether it has a
    sort order; `join` is how its partitions fit those of a source that is a partitioned Iceberg table. `unjoined` are
    pairs of columns, of target and source, that ON would equate if it joined all partition columns, `null_safe` the
    partition columns that it joins by `<=>`. `distribution` is the property that says how the rows are distributed.
    """

    session: Mapping[str, str]
    conf: Mapping[str, str]
    declared: Mapping[str, str]
    properties: Mapping[str, str]
    fields: tuple[PartitionField, ...]
    sorted: bool
    join: StorageJoin | None
    unjoined: tuple[tuple[str, str], ...]
    null_safe: tuple[str, ...]
    distribution: str


@dataclass(frozen=True)
class Trial:
    """Confs and conditions of ON to plan with once more, for nodes of some kinds. `remedy` is how a model has them."""

    about: tuple[tuple[Kind, Purpose], ...]
    remedy: Remedy
    confs: Mapping[str, str]
    conditions: tuple[str, ...] = ()

    def is_about(self, node: ShuffleRemedies) -> bool:
        """Whether it is worth asking for a node: nothing is known for it, or but a condition that may not be meant."""
        certain = [remedy for remedy in node.remedies if not any(change.where == "on" for change in remedy)]
        return (node.shuffle.kind, node.shuffle.purpose) in self.about and not certain


_JOIN: tuple[tuple[Kind, Purpose], ...] = (("Exchange", "join"),)
_SHUFFLES: tuple[tuple[Kind, Purpose], ...] = (*_JOIN, ("Exchange", "source"), ("Exchange", "files"))
_SORTS: tuple[tuple[Kind, Purpose], ...] = (("Sort", "join"), ("Sort", "source"), ("Sort", "files"))
_WRITE: tuple[tuple[Kind, Purpose], ...] = (("Exchange", "write"),)


def trials(circumstances: Circumstances) -> Iterator[Trial]:
    """What is worth asking the engine for, the smallest change first."""
    if _differs(circumstances, SORT_MERGE, "false", "true"):
        yield Trial(_SORTS, (Change("conf", SORT_MERGE, "false"),), {SORT_MERGE: "false"})
    above = ICEBERG_CONF in circumstances.session
    spread = Change("conf" if above else "properties", ICEBERG_CONF if above else circumstances.distribution, "none")
    yield Trial(_WRITE, (spread,), {ICEBERG_CONF: "none"})
    confs = {
        setting.key: setting.value
        for setting in SETTINGS
        if setting.key != SORT_MERGE and _differs(circumstances, setting.key, setting.value, setting.default)
    }
    remedy = _storage_join(circumstances, confs)
    if confs:
        yield Trial(_SHUFFLES, remedy, confs)
    if circumstances.unjoined:
        on = tuple(Change("on", *pair) for pair in circumstances.unjoined)
        yield Trial(
            _JOIN, (*remedy, *on), confs, tuple(f"{column} = {other}" for column, other in circumstances.unjoined)
        )
    for key in LOOSER:
        if circumstances.fields and _differs(circumstances, key, "true", "false"):
            yield Trial(_JOIN, (*remedy, Change("conf", key, "true")), {**confs, key: "true"})


def _differs(circumstances: Circumstances, key: str, value: str, default: str) -> bool:
    return circumstances.session.get(key, default).lower() != value


def _storage_join(circumstances: Circumstances, confs: Mapping[str, str]) -> Remedy:
    """How a model comes to have the confs: those that it sets otherwise by name win over `storage_join`."""
    own = tuple(Change("conf", key, value) for key, value in confs.items() if key in circumstances.conf)
    return own if len(own) == len(confs) else (Change("config", "storage_join", "true"), *own)


def by_rule(shuffle: Shuffle, circumstances: Circumstances) -> ShuffleRemedies:
    """What takes a node away for which nothing that was tried did."""
    kind, purpose = shuffle.kind, shuffle.purpose
    if purpose == "files":
        return ShuffleRemedies(shuffle, (_marking(circumstances),))
    if purpose == "pruning":
        return ShuffleRemedies(
            shuffle, why="it spares reading partitions; as it runs, the engine takes a broadcast or drops it"
        )
    if purpose == "source":
        return ShuffleRemedies(shuffle, why="the query in USING asks for it")
    if purpose == "write":
        return _before_write(shuffle, circumstances)
    if kind == "Sort":
        sizes = "spark.sql.autoBroadcastJoinThreshold times spark.sql.shuffle.partitions"
        return ShuffleRemedies(shuffle, why=f"a hash join needs a side below {sizes}, and below a third of the other")
    return ShuffleRemedies(shuffle, why=_why_shuffled(circumstances))


def _marking(circumstances: Circumstances) -> Remedy:
    marking = ICEBERG.marking
    if marking.property in circumstances.declared:
        return (Change("properties", marking.property, marking.marks),)
    return (Change("config", "low_shuffle", "true"),)


def _before_write(shuffle: Shuffle, circumstances: Circumstances) -> ShuffleRemedies:
    if circumstances.sorted:
        return ShuffleRemedies(shuffle, why="the table has a sort order (`sort_by`), by which every file is written")
    if circumstances.properties.get(FANOUT, "true").lower() != "true":
        return ShuffleRemedies(shuffle, ((Change("properties", FANOUT, "true"),),))
    return ShuffleRemedies(shuffle, why="the table asks for it")


def _why_shuffled(circumstances: Circumstances) -> str:
    if not circumstances.fields:
        return "the target is not partitioned, so that there are no partitions to join by"
    if circumstances.null_safe:
        return f"ON joins {', '.join(circumstances.null_safe)} by `<=>`, and Spark joins partitions by `=` alone"
    join = circumstances.join
    if join is None:
        return "only a source that is an Iceberg table, partitioned like the target, is joined without a shuffle"
    if join.differing:
        pairs = ", ".join(f"{field} is {other} in the source" for field, other in join.differing)
        return f"the tables are partitioned in different ways: {pairs}"
    if join.loose:
        return f"ON does not join {', '.join(map(str, join.loose))}"
    return "Spark joins by partitions only where ON has `=` between columns of one type"


def shuffled_when_bounded(bounding: FilterPlan | None, plan: str) -> Iterator[str]:
    """A note where bounds cost what a plan shows: a join partition by partition, whose source is computed once before.

    Measured: what is computed once has no partitions to join by, and both sides are shuffled.
    """
    if bounding is None or bounding.left_out is not None or bounding.pin.scan is not None:
        return
    if joins_by_partition(plan):
        yield "for bounds the source is computed once, and the join shuffles then: `bounds: off` leaves it as it is"
