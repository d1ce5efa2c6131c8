"""Orchestrators: Dagster and Airflow start one build for many tables, and show what each of its nodes has done.

`dagster` and `airflow` are imported by users; each needs the extra of its name. The modules next to them know neither.
"""
