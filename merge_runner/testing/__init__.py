"""Data tests as queries whose rows are failures."""
