"""From files to one value with everything that a project says."""
