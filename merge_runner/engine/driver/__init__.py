"""What runs models: sessions, job groups, cancellation, table formats."""
