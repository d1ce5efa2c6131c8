"""From the folder of a project to a graph with compiled texts."""
