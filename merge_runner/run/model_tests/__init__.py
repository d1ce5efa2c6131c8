"""Mutation checks and generated unit tests."""
