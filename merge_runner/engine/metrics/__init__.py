"""What a committed MERGE did, and whether it agrees with the verdict."""
