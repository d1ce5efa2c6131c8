"""What a text says while it is being typed: tolerant readings that never fail."""
