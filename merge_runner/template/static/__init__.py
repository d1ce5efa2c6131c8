"""What a file says about itself, read without Jinja."""
