"""Conditions as Spark's optimizer leaves them: folded, typed, normalized."""
