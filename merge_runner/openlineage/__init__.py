"""OpenLineage: events about each invocation and its nodes for catalogs of data, with column lineage through MERGE."""
