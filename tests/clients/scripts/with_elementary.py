"""Run an executable as elementary runs dbt 2, and read what it writes; report it on standard output.

    with_elementary.py PROJECT EXECUTABLE LINES

LINES is a file with the event lines of a build, PROJECT/target has a sources.json.
"""

import json
import os
import sys
from pathlib import Path

project, os.environ["DBT_FUSION_PATH"] = sys.argv[1], sys.argv[2]

from elementary.clients.dbt.dbt2_runner import Dbt2Runner  # noqa: E402 -- it looks for the executable
from elementary.clients.dbt.dbt_log import parse_dbt_output  # noqa: E402
from elementary.config.config import Config  # noqa: E402
from elementary.operations.upload_source_freshness import UploadSourceFreshnessOperation  # noqa: E402

runner = Dbt2Runner(
    project_dir=project,
    profiles_dir=project,
    raise_on_failure=False,
    run_deps_if_needed=False,
    allow_macros_without_package_prefix=True,
)
freshness = UploadSourceFreshnessOperation(Config(project_dir=project))
report = {
    "ls": runner.ls("+orders"),
    "ls of nothing": runner.ls("no_such_model"),
    "operation": runner.run_operation("greet", macro_args={"whom": "Ann"}, return_raw_edr_logs=True),
    "errors": [log.msg for log in parse_dbt_output(Path(sys.argv[3]).read_text()) if log.level == "error"],
    "sources": [[each["unique_id"], each["status"]] for each in freshness.get_sources_file_contents()["results"]],
}
sys.stdout.write("REPORT " + json.dumps(report) + "\n")
