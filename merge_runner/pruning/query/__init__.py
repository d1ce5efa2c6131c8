"""What is known of the rows of a query: its columns, keys and what holds for each row."""
