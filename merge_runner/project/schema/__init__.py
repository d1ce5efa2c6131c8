"""The types of what users write: config, properties, profiles, settings."""
