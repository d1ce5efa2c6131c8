"""What the names in a text of a project mean: models, macros, columns, config keys."""
