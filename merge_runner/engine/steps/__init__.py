"""One function for each kind of step."""
