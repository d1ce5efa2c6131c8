"""One node: its session, its lock, its steps, retries."""
