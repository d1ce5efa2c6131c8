"""What Delta 4.4.0 and Iceberg 1.12.0 on Spark 4.1 prune in a MERGE: one table of rows for both formats.

A row is `key: (sql, answer)`: what static analysis looks up, a condition in ON that shows it, and whether the condition
prunes. One answer (`"yes"`) holds for each format that the table has a source for; where the formats differ, or only
one has the row, there is an answer for each format: `{"delta": "no", "iceberg": "yes"}`. `grep '{"' *.py` lists those.

"Delta prunes" means that a MERGE reads fewer target files than the table has, counted by Delta's own metric; "Iceberg
prunes", that the main scan of the target is planned with fewer files. `seldom` rows prune only where a file holds a
single value, or only NULL. A test runs every row on both engines, on the probe tables of
tests/formats/probe_tables.py, and those of tests/formats/facts: conditions and clauses that nothing here looks up.
"""
