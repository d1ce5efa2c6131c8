"""What is known of the rows of a query, and what follows from a condition."""
