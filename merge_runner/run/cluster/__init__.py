"""What submits merge-runner itself to a cluster manager: a command with its files, and what it lacks."""
