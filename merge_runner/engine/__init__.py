"""The only package that imports Spark: jars, sessions, tables, statements, metrics, errors."""
