"""`diff`: the table of a model, compared with another state of it."""
