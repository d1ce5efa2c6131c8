"""The only room that knows Spark: jars, sessions, tables, statements, metrics, errors."""
