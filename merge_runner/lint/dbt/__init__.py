"""What the manifest of a dbt project says of its models: their MERGEs, config, hooks and tables."""
