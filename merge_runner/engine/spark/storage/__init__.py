"""A warehouse in an object store: its jars and confs, its files, its locks, and how commits are kept apart."""
