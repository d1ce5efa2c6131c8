"""What building a node consists of, as values."""
