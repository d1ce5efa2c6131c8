"""What hides findings: comments and the baseline."""
