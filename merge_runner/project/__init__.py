"""The project files: settings, profiles, YAML properties with places, model files."""
