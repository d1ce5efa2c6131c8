"""Projects out of MERGEs that are written elsewhere: in scripts, notebooks and code."""
