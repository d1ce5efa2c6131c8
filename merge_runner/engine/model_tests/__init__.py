"""Unit tests and data tests on the engine."""
