"""The DAG: building it, levels, and the selection syntax."""
