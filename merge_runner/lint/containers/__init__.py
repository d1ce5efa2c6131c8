"""The files that MERGEs are written in outside of a project: scripts, notebooks, Python and Scala code."""
