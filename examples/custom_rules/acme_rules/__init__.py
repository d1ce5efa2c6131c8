"""Lint rules of the company Acme: each module whose name begins with a code is a rule."""
