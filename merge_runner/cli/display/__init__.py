"""What people see: the live display, messages, problems, the table of merges."""
