"""What an editor is answered about a text and a cursor in it, a module for each kind of question."""
