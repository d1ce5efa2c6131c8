"""The analysis: what a MERGE will scan of its target, from its text and the layout of the table."""
