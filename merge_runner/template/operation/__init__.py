"""Macros that run as operations: what they may ask of the engine, and what they get."""
