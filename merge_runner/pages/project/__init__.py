"""The page of a project: its nodes, their texts and proofs, the DAG, column lineage."""
