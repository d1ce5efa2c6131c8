"""What is true of Delta alone: its capabilities, and what it refuses."""
