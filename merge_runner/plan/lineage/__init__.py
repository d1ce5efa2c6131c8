"""Column lineage across the models of a project."""
