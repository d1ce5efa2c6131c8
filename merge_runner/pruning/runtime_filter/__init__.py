"""Runtime filters: which columns, from which values, from which pinned source."""
