"""The statements of truth.yml with their edges, and what the engines showed of them, as a page of the docs.

RECORD=1 pytest -m nightly tests/lineage/test_lineage_against_engines.py    # runs all, and writes what they show
python -m tests.lineage.truth_table                                         # writes the page
"""

from __future__ import annotations

from pathlib import Path

import yaml

from merge_runner.markdown import table
from tests.lineage.test_lineage_against_engines import CASES, SOURCES, lineage, statement
from tests.yaml_data import read_yaml

PAGE = Path(__file__).resolve().parents[2] / "docs/contributing/lineage-truth.md"
SHOWN = Path(__file__).with_name("truth_shown.yml")
"""By statement: MERGEs that were run, edges to values, edges of columns that decide, and how many of each were shown."""
HEAD = """\
# Column lineage: the truth table

Each statement of `tests/lineage/truth.yml` on an engine: one value of one column of a source is changed, the MERGE runs on
an equal target, and the cells that differ are compared with the edges ([how, and the totals](quality-report.md#column-lineage)).
`t` is the target with `id, a, b, n, st`, `s` and `u` are sources. A column that decides about rows decides about every column,
also where no row of the test shows it. No change reached a column without an edge. A statement that begins with WHEN goes on
from `merge into t using s on t.id = s.id`. Written by `python -m tests.lineage.truth_table`.

"""


def page():
    """Return the page."""
    shown = read_yaml(SHOWN)
    rows = [
        (number, _text(case), *_edges(case), *_shown(shown.get(case["name"]))) for number, case in enumerate(CASES, 1)
    ]
    heads = ("", "statement", "values are made of", "decides", "MERGEs", "of values, shown", "of deciding, shown")
    return HEAD + "\n".join(table(heads, rows, frozenset({0, 4, 5, 6}))) + "\n"


def _text(case):
    return statement(case).removeprefix("merge into t using s on t.id = s.id ")


def _edges(case):
    found = lineage(case)
    made, deciding = [], {}
    for column in found.columns:
        for part in found.inputs(column):
            if part.relation not in SOURCES:
                continue
            if part.is_direct:
                made.append(f"{column.column} ← {part.relation}.{part.column} {part.subtype}")
            else:
                deciding[f"{part.relation}.{part.column} {part.subtype}"] = None
    return "; ".join(made) or "–", ", ".join(deciding) or "–"


def _shown(counts):
    if counts is None:
        return "–", "–", "–"
    merges, direct, deciding, direct_shown, deciding_shown = counts
    return merges, f"{direct_shown} of {direct}", f"{deciding_shown} of {deciding}"


def record(shown):
    """Write what the engines have shown, by the names of statements."""
    SHOWN.write_text(yaml.safe_dump(shown, sort_keys=False, default_flow_style=None, allow_unicode=True, width=120))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
