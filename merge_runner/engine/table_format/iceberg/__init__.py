"""Iceberg tables: `IcebergFormat` and what it consists of."""
