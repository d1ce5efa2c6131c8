"""Compaction and VACUUM."""
