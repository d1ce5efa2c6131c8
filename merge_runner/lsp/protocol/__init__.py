"""The messages of the Language Server Protocol, and how an answer is written in one. Only this knows pygls."""
