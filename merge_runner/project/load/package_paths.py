"""Where a project's packages of macros are declared, locked and installed; needs nothing but this module."""

DECLARING = ("packages.yml", "dependencies.yml")
"""Where packages are declared; dbt has both."""
LOCK = "packages.lock"
FOLDER = "dbt_packages"
"""Where packages are installed, as by dbt."""
