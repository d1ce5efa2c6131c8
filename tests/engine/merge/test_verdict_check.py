"""Whether a verdict held, told from the files before and after skipping."""

import pytest

from merge_runner.engine.merge.verdict_check import is_verdict_held, verify_verdict
from merge_runner.engine.response import MergeFigures, Verdict
from merge_runner.engine.spark.errors import EngineError, Kind
from merge_runner.formats.types import parse_type
from merge_runner.merge.parse import parse
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.layout.layout import PartitionField, TableColumn, TableLayout

LAYOUT = TableLayout(
    "delta",
    tuple(TableColumn(name, parse_type(text)) for name, text in {"id": "bigint", "dt": "date", "k": "int"}.items()),
    complete=True,
    partition_by=(PartitionField("dt"),),
    cluster_by=(),
)
STATIC, NONE, NEGATION = "t.dt >= date'2024-01-01'", "abs(t.k) = 5", "t.k <> 5"

CASES = {
    "nothing to skip in an empty table": (STATIC, 0, 0, None, True),
    "some files were skipped": (STATIC, 10, 3, None, True),
    "none was skipped, and none could be": (STATIC, 10, 10, (10, 10), True),
    "none was skipped, though some could be": (STATIC, 10, 10, (10, 4), False),
    "another version of the table was counted": (STATIC, 10, 10, (9, 9), None),
    "the log cannot be asked": (STATIC, 10, 10, None, None),
    "all were read, as was said": (NONE, 10, 10, None, True),
    "files were skipped, though it was said that none would be": (NONE, 10, 9, None, False),
    "a file of one value may be skipped": (NEGATION, 10, 9, None, None),
    "no figures": (STATIC, None, None, None, None),
}


@pytest.mark.parametrize("case", CASES)
def test_case(case):
    on, total, scanned, counted, held = CASES[case]
    merge = judge_merge(
        parse(f"merge into t using s on t.id = s.id and {on} when matched then delete"), LAYOUT, lambda _: None
    )
    assert is_verdict_held(merge, total, scanned, lambda _: counted) is held


@pytest.mark.parametrize(
    ("clauses", "scanned", "held"),
    [
        ("when matched then update set k = 1", 9, False),
        ("when matched then update set k = 1", 10, True),
        ("when matched then update set k = 1", 0, None),  # the source had no row: the scan was taken out of the plan
        ("when matched then delete", 9, None),  # Spark infers the source's constants on the target's side
        ("when not matched then insert *", 9, None),
    ],
)
def test_iceberg_may_skip_more_than_the_text_promises(clauses, scanned, held):
    layout = TableLayout("iceberg", LAYOUT.columns, complete=True, partition_by=())
    merge = judge_merge(parse(f"merge into t using s on t.id = s.id {clauses}"), layout, lambda _: None)
    assert merge.judgement.verdict == "none"
    assert is_verdict_held(merge, 10, scanned, lambda _: None) is held


def test_an_unknown_verdict_promises_nothing():
    merge = judge_merge(
        parse("merge into t using s on t.x = 5 when matched then delete"), TableLayout("delta"), lambda _: None
    )
    assert merge.judgement.verdict == "unknown"
    assert is_verdict_held(merge, 10, 3, lambda _: None) is None


def test_what_is_asked_of_the_log_is_the_authors_text_over_its_columns():
    asked = []
    merge = judge_merge(
        parse(
            "merge into t using s on t.id = s.id and T.DT between '2024-01-01' and current_date() when matched then delete"
        ),
        LAYOUT,
        lambda _: None,
    )
    is_verdict_held(merge, 2, 2, asked.extend)
    assert asked == ["cast(partitionValues['dt'] as date) between '2024-01-01' and current_date()"]


class Log:
    """A version of a table whose log cannot be read."""

    def __init__(self, kind):
        self.kind = kind

    def files_passing(self, conditions):
        raise EngineError("gone", "the log is gone", kind=self.kind)


def test_a_log_that_cannot_be_asked_afterwards_does_not_undo_a_merge():
    merge = judge_merge(
        parse(f"merge into t using s on t.id = s.id and {STATIC} when matched then delete"), LAYOUT, lambda _: None
    )
    figures = MergeFigures.of({"files_total": 4, "files_scanned": 4}, {})
    assert verify_verdict(merge, merge, figures, Log(Kind.USER)) == Verdict("static", None)
    with pytest.raises(EngineError, match="the log is gone"):
        verify_verdict(merge, merge, figures, Log(Kind.CANCELLED))
