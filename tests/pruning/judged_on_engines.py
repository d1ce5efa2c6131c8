"""What the judge says of random MERGEs, compared with the files that the engines plan to read."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from merge_runner.pruning.verdict import Condition, Judgement
from tests.formats import probe_tables
from tests.formats.engine_scans import CONFS, Engines
from tests.pruning.probe_layouts import judged
from tests.pruning.random_merges import NESTED, TABLES, RandomMerge, with_other_constants

_FILE = {"delta": "input_file_name()", "iceberg": "_file"}
_ROW = "select 5L id, 5 k, date'2020-06-02' dt, timestamp'2020-06-02 00:00:00' ts, 5 n"
_OTHERS = 40
"""So many other constants are tried where one shape skips nothing."""
_SECONDS = 60
"""After so long an engine has not planned a MERGE: some planning is exponential."""


@dataclass(frozen=True)
class Compared:
    """A MERGE, the files of its target before and after skipping, and what was said.

    Without files, `verdict` says why: the engine has `refused` it, or was `not planned` in time.
    """

    merge: RandomMerge
    files: tuple[int, int] | None
    judgement: Judgement
    agrees: bool
    verdict: str

    @property
    def skipped(self) -> bool:
        """Whether the engine reads fewer files than there are."""
        return self.files is not None and self.files[1] < self.files[0]

    def __repr__(self) -> str:
        conditions = [(item.text, item.prunes, item.cause) for item in self.judgement.on]
        return f"{self.verdict} {self.files} {self.merge} {conditions}"


def make_probes(engines: Engines) -> None:
    """Create the tables that random MERGEs change, and their source."""
    for key, value in CONFS.items():
        engines.session.conf.set(key, value)
    for form in engines.schemas:
        for name in TABLES[form]:
            engines.make(name, form, probe_tables.TABLES[form][name])
    engines.session.sql(f"create table {engines.schemas['delta']}.src using parquet as {_ROW}")


def compare(engines: Engines, merges: Sequence[RandomMerge]) -> list[Compared]:
    """Measure MERGEs, two at a time."""
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(lambda merge: _compared(engines, merge), merges))


def judgement_of(merge: RandomMerge) -> Judgement:
    """Return what the judge says, which knows the layouts of all tables."""
    return judged(merge.form, probe_tables.TABLES[merge.form][merge.table], merge.on, merge.clauses)


def _compared(engines: Engines, merge: RandomMerge) -> Compared:
    judgement = judgement_of(merge)
    try:
        files = _files(engines, merge)
    except TimeoutError:
        return Compared(merge, None, judgement, agrees=True, verdict="not planned")
    if files is None:
        return Compared(merge, None, judgement, agrees=True, verdict="refused")
    skipped = files[1] < files[0]
    if judgement.verdict == "none" and skipped:
        agrees = _may_skip(merge, judgement, *files)
    elif judgement.verdict == "static" and not skipped:
        agrees = _nothing_to_skip(engines, merge, judgement) or _others_skip(engines, merge)
    else:
        agrees = True
    return Compared(merge, files, judgement, agrees, judgement.verdict)


def _files(engines: Engines, merge: RandomMerge) -> tuple[int, int] | None:
    """Return the files before and after skipping, None for a MERGE that the engine refuses. Raises TimeoutError."""
    planning = engines.jvm.Thread.currentThread()  # PySpark gives each thread one of the JVM
    late = threading.Event()

    def stop() -> None:
        late.set()
        planning.stop()  # it looks for no interrupt

    timer = threading.Timer(_SECONDS, stop)
    timer.start()
    try:
        return engines.files(merge.form, *merge.arguments)
    except Exception:
        if late.is_set():
            raise TimeoutError(f"{merge.on} is not planned after {_SECONDS} s") from None
        return None  # the engine refuses it
    finally:
        timer.cancel()


def _others_skip(engines: Engines, merge: RandomMerge) -> bool:
    """Whether files are skipped where the constants are those of other rows."""
    for other in with_other_constants(merge, _OTHERS):
        try:
            files = _files(engines, other)
        except TimeoutError:
            continue
        if files is not None and files[1] < files[0] and judgement_of(other).verdict == "static":
            return True
    return False


def _conditions(judgement: Judgement) -> Iterator[Condition]:
    """All conditions with their legs."""
    todo = [*judgement.on, *(condition for clause in judgement.when for condition in clause)]
    while todo:
        condition = todo.pop()
        yield condition
        todo += condition.legs


def _may_skip(merge, judgement: Judgement, before: int, after: int) -> bool:
    """Whether files may be skipped of which the judge promises nothing: `seldom` conditions, files of NULL."""
    if not after or NESTED in merge.kinds:
        return True  # the optimizer finds a contradiction, or the one value that counts: the judge does not
    if any(condition.cause == "negation" or condition.pattern == "CASE" for condition in _conditions(judgement)):
        return True
    of_null = {"gone"} if merge.table != "parts" else {"region"}
    named = {column.casefold() for condition in _conditions(judgement) for column in condition.columns}
    return bool(named & of_null) and after >= before - 1


def _nothing_to_skip(engines, merge, judgement: Judgement) -> bool:
    """Whether each file has to be read, as far as its rows or the bounds that are kept of them tell."""
    if any(condition.prunes and condition.cause == "loose" for condition in _conditions(judgement)):
        return True
    if any(condition.prunes and "null counts" in condition.reason for condition in _conditions(judgement)):
        return True  # few columns of the tables are NULL in all rows of a file
    if {"same", "differ"} & {column.casefold() for item in _conditions(judgement) for column in item.columns}:
        return True  # long texts are cut
    asked = [condition.text for condition in judgement.on if condition.prunes]
    if not asked:
        clauses = [
            " and ".join(f"({item.text})" for item in clause if item.side in ("target", "none")) or "true"
            for clause in judgement.when
        ]
        asked = [" or ".join(f"({clause})" for clause in clauses)]
    where = " and ".join(f"({condition})" for condition in asked)
    table = f"{engines.schemas[merge.form]}.{merge.table}"
    rows = f"(select *, {_FILE[merge.form]} as file__ from {table})"
    found = engines.session.sql(
        f"select count(distinct t.file__), count(distinct case when {where} then t.file__ end) "
        f"from {rows} t cross join ({_ROW}) s"
    ).first()
    return found[0] == found[1]
