"""SQL files outside of a project, and the MERGEs of a dbt project."""
