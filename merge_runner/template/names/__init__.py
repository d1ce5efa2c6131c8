"""The names that templates have, and what they do in one rendering."""
