"""Runs in an environment with dbt-artifacts-parser and dbterd: FOLDER of artifacts → JSON of what they read."""

import json
import sys
from pathlib import Path

from dbt_artifacts_parser import parser

folder = Path(sys.argv[1])
READERS = {
    "manifest": parser.parse_manifest,
    "run_results": parser.parse_run_results,
    "catalog": parser.parse_catalog,
    "sources": parser.parse_sources,
}
found = {}
for path in sorted(folder.glob("*/*.json")):
    document = json.loads(path.read_text())
    artifact = READERS[path.stem](document)
    if path.stem == "manifest":
        found[f"{path.parent.name}/{path.stem}"] = [type(artifact).__name__, len(artifact.nodes)]
    else:
        found[f"{path.parent.name}/{path.stem}"] = [type(artifact).__name__, len(document.get("results", ()))]
sys.stdout.write(json.dumps(found))
