"""Nodes that need not run, since nothing that they read has changed, and a second run would provably do nothing."""
