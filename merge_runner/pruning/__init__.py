"""The judge: what a MERGE will scan of its target, told from its text and the layout of the table."""
