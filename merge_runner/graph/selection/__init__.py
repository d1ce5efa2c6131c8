"""The selection syntax: criteria, their methods, and the state that some compare with."""
