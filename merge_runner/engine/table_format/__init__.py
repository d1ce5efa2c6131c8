"""What Delta and Iceberg answer about a table and do with it, each in its own package, by one protocol."""
