"""What the criteria of a selection match: one function for each method of the selection syntax."""
