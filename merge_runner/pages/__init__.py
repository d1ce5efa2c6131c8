"""Pages of HTML: a project, and its runs; each one file that needs no server and no network."""
