"""What `lint` looks at by its paths and options."""
