"""Load the artifacts of a project, and of an earlier state of it, as recce does; write what it found to standard output.

    with_recce.py PROJECT CURRENT BASE

CURRENT and BASE are folders with artifacts, relative to PROJECT.
"""

import json
import os
import sys
from pathlib import Path

os.environ["DBT_SEND_ANONYMOUS_USAGE_STATS"] = "false"

from recce.adapter.dbt_adapter import DbtAdapter

PROFILE = (
    "read: {target: dev, outputs: {dev: {type: spark, method: thrift, host: localhost, schema: read, threads: 1}}}"
)
"""Of recce's own connection, which is never opened."""

project, current, base = Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3]
profiles = project / "profiles_of_recce"
profiles.mkdir(exist_ok=True)
(profiles / "profiles.yml").write_text(PROFILE)
os.chdir(project)
adapter = DbtAdapter.load(
    project_dir=str(project), profiles_dir=str(profiles), profile="read", target_path=current, target_base_path=base
)
lineage, diff = adapter.get_lineage(), adapter.get_lineage_diff().model_dump(mode="json")
report = {
    "nodes": sorted(lineage["nodes"]),
    "parents": {name: sorted(parents) for name, parents in lineage["parent_map"].items()},
    "columns": {name: sorted(node.get("columns") or {}) for name, node in lineage["nodes"].items()},
    "changes": {name: change["change_status"] for name, change in diff["diff"].items()},
    "modified": sorted(adapter.select_nodes(select="state:modified+")),
}
sys.stdout.write("REPORT " + json.dumps(report) + "\n")
