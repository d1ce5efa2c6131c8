"""Plans as text, and Spark's physical plan of a MERGE."""
