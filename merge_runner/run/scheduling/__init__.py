"""Which node runs when: ready queue, dependencies, write conflicts."""
