"""The analysis of a MERGE: verdict, conditions, join with storage partitioning."""
