"""What `test --generate` and `test --mutate` do."""
