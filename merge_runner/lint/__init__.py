"""The rules: what is wrong with a MERGE before anything runs."""
