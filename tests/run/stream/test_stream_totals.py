"""What is added up over the batches of a stream."""

from merge_runner.run.stream.stream_totals import StreamTotals


def test_percentiles_are_times_that_a_batch_took():
    totals = StreamTotals(())
    for seconds in (*range(98, 0, -1), 500, 600):
        totals.add_batch("raw.orders", 10, seconds)
    totals.add_batch("raw.few", 1, 2.5)
    assert totals.of_stream("raw.orders") == {"batches": 100, "rows": 1000, "p50": 50, "p99": 500}
    assert totals.of_stream("raw.few") == {"batches": 1, "rows": 1, "p50": 2.5, "p99": 2.5}
    assert totals.of_stream("raw.none") == {"batches": 0, "rows": 0, "p50": None, "p99": None}
