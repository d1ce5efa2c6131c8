"""Delta tables: `DeltaFormat` and what it consists of."""
