"""What the engines have shown of the edges of truth.yml: the figures that are kept, and a table of them.

RECORD=1 pytest -m nightly tests/lineage/test_lineage_against_engines.py    # runs all, and writes the figures
"""

from __future__ import annotations

from pathlib import Path

import yaml

from merge_runner.markdown import table
from tests.yaml_data import read_yaml

SHOWN = Path(__file__).with_name("truth_shown.yml")
"""By statement: MERGEs that were run, edges to values, edges of columns that decide, and how many of each were shown."""
_HEADS = ("statement", "MERGEs", "edges to values", "shown", "edges of columns that decide", "shown")


def truth_table(shown):
    """Return the figures of statements, and their sums, as a Markdown table."""
    rows = [(name, merges, values, v, deciding, d) for name, (merges, values, deciding, v, d) in shown.items()]
    sums = tuple(sum(column) for column in list(zip(*rows, strict=True))[1:])
    return "\n".join(table(_HEADS, [*rows, ("all", *sums)], frozenset(range(1, 6))))


def losses(shown):
    """Return the statements of which fewer edges are shown than the record says."""
    recorded = read_yaml(SHOWN)
    return [
        f"{name}: {figures[3:]} edges were shown, {recorded[name][3:]} are recorded"
        for name, figures in shown.items()
        if any(now < then for now, then in zip(figures[3:], recorded[name][3:], strict=True))
    ]


def record(shown):
    """Write what the engines have shown, by the names of statements."""
    SHOWN.write_text(yaml.safe_dump(shown, sort_keys=False, default_flow_style=None, allow_unicode=True, width=120))
