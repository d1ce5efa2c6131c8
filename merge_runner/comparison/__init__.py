"""Comparison of the rows of two tables: its SQL, and what it finds."""
