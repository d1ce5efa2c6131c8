"""What the engine says about a MERGE that it does not run."""
