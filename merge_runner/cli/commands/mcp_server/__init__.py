"""A server of the Model Context Protocol: its tools are commands, and their results what the commands print."""
