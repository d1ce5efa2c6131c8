"""The language server: what lint finds in the text of an editor, while it is typed."""
