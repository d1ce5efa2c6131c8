"""Pages of docs/reference and the JSON Schemas, made from the definitions in the code. No command imports this."""
