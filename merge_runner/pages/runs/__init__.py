"""The page of runs: where the time went, what each MERGE did, what has changed since the last runs."""
