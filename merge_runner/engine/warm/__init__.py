"""The long-running driver of a project: a client for it and the process that keeps it."""
