"""What `lint` looks at by paths: models of a project, or plain files; their fixes, baseline and kept reports."""
