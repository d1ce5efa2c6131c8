"""What the names in a statement mean: for lineage, for what is known of rows, and for the rules."""
