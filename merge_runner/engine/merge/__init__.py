"""One MERGE: pinned source, runtime filter, limits, execution, idempotent batches."""
