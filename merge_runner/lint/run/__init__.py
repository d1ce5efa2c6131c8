"""A lint run over a project, its processes and its cache."""
