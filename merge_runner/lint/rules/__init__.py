"""One module for each rule: `<code>_<name>.py`, with SEVERITY and one of check_merge, check_file, check_project."""
