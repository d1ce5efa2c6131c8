"""A MERGE as a value: dialect, parser, conjuncts, clauses, and splices into the author's text."""
