"""What is known of a table: partitioning, clustering, statistics; verdicts on it."""
