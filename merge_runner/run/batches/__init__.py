"""Batches as jobs of a run: those that are due, their order, and their results as the result of the model."""
