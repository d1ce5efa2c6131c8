"""Reading a stream in micro-batches, and its checkpoint."""
