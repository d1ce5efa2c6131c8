"""All nodes of an invocation on one driver."""
