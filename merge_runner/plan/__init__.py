"""Typed steps: the same steps are run or explained."""
