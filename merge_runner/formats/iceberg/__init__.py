"""What is true of Iceberg alone: its capabilities, and what it refuses."""
