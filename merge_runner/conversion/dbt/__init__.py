"""A merge-runner project out of a dbt project."""
