"""What Delta and Iceberg do with a condition: data skipping and partition pruning."""
