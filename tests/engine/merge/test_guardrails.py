"""Which figures of a MERGE go beyond which limits."""

from types import SimpleNamespace

import pytest

from merge_runner.engine.merge.dry_run import Figures
from merge_runner.engine.merge.guardrails import check_committed, violations
from merge_runner.engine.response import MergeFigures
from merge_runner.engine.spark.errors import EngineError
from merge_runner.project.schema.expect_merge import ExpectMerge
from merge_runner.relation import Relation


@pytest.mark.parametrize(
    ("limits", "figures", "told"),
    [
        ({"min_source_rows": 1}, {"source": 1}, []),
        ({"min_source_rows": 1}, {"source": 0}, ["a source of 0 rows (`min_source_rows: 1`)"]),
        ({"no_inserts": True}, {"target": 5, "inserted": 0}, []),
        ({"no_inserts": True}, {"target": 5, "inserted": 1}, ["1 row inserted (`no_inserts: true`)"]),
        # The first run: everything is inserted.
        ({"no_inserts": True, "max_inserts": 1}, {"target": 0, "inserted": 9}, []),
        ({"max_inserts": 8}, {"target": 1, "inserted": 9}, ["9 rows inserted (`max_inserts: 8`)"]),
        ({"max_updates": 0}, {"updated": 1}, ["1 row updated (`max_updates: 0`)"]),
        ({"max_deletes": 1000}, {"deleted": 1000}, []),
        ({"max_deletes": 1000}, {"deleted": 1001}, ["1,001 rows deleted (`max_deletes: 1000`)"]),
        ({"max_percent_deleted": 0.29}, {"target": 10_000, "deleted": 29}, []),
        (
            {"max_percent_deleted": 0.29},
            {"target": 10_000, "deleted": 30},
            ["30 of 10,000 rows deleted, 0.3 % (`max_percent_deleted: 0.29`)"],
        ),
        ({"max_percent_touched": 50.0}, {"target": 4, "updated": 1, "deleted": 1}, []),
        (
            {"max_percent_touched": 50.0, "max_percent_deleted": 10.0},
            {"target": 4, "updated": 2, "deleted": 1},
            [
                "1 of 4 rows deleted, 25 % (`max_percent_deleted: 10`)",
                "3 of 4 rows updated or deleted, 75 % (`max_percent_touched: 50`)",
            ],
        ),
        ({"max_percent_touched": 0.0}, {"target": 0, "updated": 0, "deleted": 0}, []),
    ],
)
def test_violations(limits, figures, told):
    assert list(violations(ExpectMerge(**limits), Figures(**figures))) == told


def test_what_has_committed_beyond_its_limits_is_told_as_committed():
    step = SimpleNamespace(target=Relation("fct", "shop"))
    expect = SimpleNamespace(limits=ExpectMerge(max_deletes=1, max_percent_touched=50.0))
    done = {"table_version": 7, "rows_inserted": 3, "rows_updated": 0}
    check_committed(step, expect, Figures(target=2), MergeFigures.of({**done, "rows_deleted": 1}, {}))
    with pytest.raises(
        EngineError, match=r"version 7 of shop\.fct has gone beyond `expect_merge`, and is committed: 2 rows"
    ):
        check_committed(step, expect, Figures(target=2), MergeFigures.of({**done, "rows_deleted": 2}, {}))
    # What the engine does not tell is not held against anything.
    check_committed(step, expect, Figures(target=2), MergeFigures.unknown())
