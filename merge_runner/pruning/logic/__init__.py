"""Conditions and constants in one form, and which conditions follow from others."""
