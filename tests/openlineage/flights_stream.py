"""The events of a build of two days of the flights project, as merge-runner has written them, and what the guide shows.

    python -m tests.openlineage.flights_stream [openlineage.jsonl FOLDER]

writes the section of the guide; with a file of events, these take the place of the recorded ones: FOLDER, where the project
and its warehouse were, becomes /srv.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from pathlib import Path

from merge_runner.markdown import table

RECORDED = Path(__file__).with_name("flights_build.jsonl.gz")
GUIDE = Path(__file__).resolve().parents[2] / "docs/guides/openlineage.md"
BEGIN, END = "<!-- recorded events -->\n", "<!-- end of recorded events -->\n"
STATES = ("START", "COMPLETE", "FAIL", "ABORT")
SHOWN = "model.flights.agg_route_day"


def events():
    """Return the recorded events, in their order."""
    return [json.loads(line) for line in gzip.decompress(RECORDED.read_bytes()).splitlines()]


def section(found):
    """Return what the guide says of the events."""
    kinds = {}
    for event in found:
        kind = event["job"]["name"].partition(".")[0]
        kinds.setdefault({"flights": "the invocation"}.get(kind, kind), Counter())[event["eventType"]] += 1
    rows = [(kind, *(counts[state] or "–" for state in STATES)) for kind, counts in kinds.items()]
    (complete,) = [each for each in found if (each["job"]["name"], each["eventType"]) == (SHOWN, "COMPLETE")]
    yield f"A build of two days sends {len(found)} events. Tests validate them by the published schemas of the event and of each facet."
    yield ""
    yield from table(("run of a", *STATES), rows, frozenset(range(1, 5)))
    yield ""
    yield f"Of the end of `{SHOWN}`, with one item of each list:"
    yield ""
    yield "```json"
    yield json.dumps(_short(_extract(complete)), indent=2, ensure_ascii=False)
    yield "```"


def _extract(event):
    """Return the job, what its MERGE did, and the column lineage of the table that it writes."""
    (output,) = event["outputs"]
    return {
        "eventType": event["eventType"],
        "job": {"namespace": event["job"]["namespace"], "name": event["job"]["name"]},
        "run": {"facets": {"mergeRunner_merge": event["run"]["facets"]["mergeRunner_merge"]}},
        "outputs": [
            {
                "namespace": output["namespace"],
                "name": output["name"],
                "facets": {"columnLineage": output["facets"]["columnLineage"]},
            }
        ],
    }


def _short(value, key=""):
    """The value with one item of each list and of the columns, and texts of a line."""
    if isinstance(value, dict):
        kept = {
            name: each
            for name, each in value.items()
            if name not in ("_producer", "_schemaURL", "producer", "schemaURL")
        }
        left = len(kept) - 1 if key == "fields" else 0
        kept = {name: _short(each, name) for name, each in (list(kept.items())[:1] if left else kept.items())}
        return kept | ({"…": f"{left} more columns"} if left else {})
    if isinstance(value, list):
        return [_short(each) for each in value[:1]] + ([f"… {len(value) - 1} more"] if len(value) > 1 else [])
    if isinstance(value, str) and "\n" in value.strip():
        return value.strip().splitlines()[0] + " …"
    return value


def guide(text, found):
    """Return the text of the guide with the section."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n".join(["", *section(found), "", ""]) + END + rest.split(END)[1]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        text = Path(sys.argv[1]).read_text(encoding="utf-8").replace(sys.argv[2], "/srv")
        RECORDED.write_bytes(gzip.compress(text.encode(), mtime=0))
    GUIDE.write_text(guide(GUIDE.read_text(encoding="utf-8"), events()), encoding="utf-8")
