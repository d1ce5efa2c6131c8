"""Column lineage: which columns write each column of a table, and which decide about its rows."""
