"""The options of commands, each declared once: for the command line, for what `retry` keeps, and for its reference."""
