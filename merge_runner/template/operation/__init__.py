"""What templates may ask of the engine, and what they get."""
