"""What a node needs before and after its own statement."""
