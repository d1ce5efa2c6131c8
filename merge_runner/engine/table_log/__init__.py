"""What the log of a table holds: commits, commit metadata, layout, state, change feed."""
