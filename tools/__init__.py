"""Tools of the repository, which are no part of the package."""
