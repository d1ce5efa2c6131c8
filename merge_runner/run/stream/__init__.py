"""Streams: each micro-batch runs the nodes that it feeds."""
