"""Files as data with places: TOML, YAML, Jinja in values."""
