"""Jinja: a sandboxed environment, the built-ins, and rendered text with a map back to the author's file."""
