"""What stands on disk: settings, profiles, YAML properties with places, model files."""
