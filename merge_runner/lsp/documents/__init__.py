"""The documents that an editor has open, the projects that they are in, and what is known of both."""
