"""For scripts: the document whose keys are promised, described by `lint.schema.json` next to this module."""

from __future__ import annotations

import json

from merge_runner.lint.outputs.statistics import statistics
from merge_runner.lint.outputs.style import Style
from merge_runner.lint.report import Report


def render(report: Report, style: Style) -> str:
    """The document, with `statistics` where they are asked for."""
    document = report.as_json()
    if style.statistics:
        document["statistics"] = [count.as_json() for count in statistics(report)]
    return json.dumps(document, indent=2)
