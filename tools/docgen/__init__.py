"""The generated pages of docs/reference, made from the definitions in the code. No command imports this package."""
