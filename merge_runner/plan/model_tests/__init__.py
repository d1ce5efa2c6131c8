"""What data tests and unit tests run."""
