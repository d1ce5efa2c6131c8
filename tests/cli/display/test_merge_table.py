"""How the merges of a build are shown."""

import io
import sys

import pytest

from merge_runner.cli.display.merge_table import _short, summary_lines
from merge_runner.columns import width


def merge(name, **figures):
    row = {
        "name": name,
        "seconds": 1.25,
        "files_scanned": 2,
        "files_total": 365,
        "rows_inserted": 1_234,
        "rows_updated": 56,
        "rows_deleted": 0,
        "rows_copied": 560,
        "copied_per_change": 10.0,
        "hints": [],
    }
    return {**row, **figures}


def test_the_table_fits_into_80_columns():
    hint = "all 365 files were scanned to change 2: filter the target in ON by a partition or clustering column"
    rows = [
        merge("fct_flight", seconds=123.4, hints=[hint]),
        merge("a_model_with_a_name_that_is_much_too_long_for_it", files_scanned=100_000, files_total=1_234_567),
        merge("ice", files_scanned=None, rows_inserted=None, rows_copied=None, copied_per_change=None),
        merge("guarded", rows_updated=0, rows_copied=12_000_000, copied_per_change=None),
        merge("clean", rows_copied=0, copied_per_change=0.0),
    ]
    lines = list(summary_lines(rows, 3, 1))
    assert lines == [
        "merge                 seconds  files scanned  inserted  updated  deleted  copied",
        "fct_flight              123.4       2 of 365     1,234       56        0     10x",
        "    hint: all 365 files were scanned to change 2: filter the target in ON by a",
        "          partition or clustering column",
        "a_model_w..ng_for_it      1.2  100k of 1.23M     1,234       56        0     10x",
        "ice                       1.2              -         -       56        0       -",
        "guarded                   1.2       2 of 365     1,234        0        0   12M/0",
        "clean                     1.2       2 of 365     1,234       56        0       0",
        "3 more that took less time, 1 of them with a hint: target/run_results.json",
    ]
    assert max(map(len, lines)) <= 80


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("columns", [60, 70, 100])
def test_the_table_fits_into_the_terminal(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stderr", Terminal())
    hint = "all 365 files were scanned to change 2: filter the target in ON by a partition or clustering column"
    rows = [
        merge("fct_flight", files_scanned=100_000, files_total=1_234_567, hints=[hint]),
        merge("umsätze_表_je_kunde_und_jahr"),
    ]
    lines = list(summary_lines(rows, 0, 0))
    assert max(map(width, lines)) <= columns
    assert " ".join(hint.split()) in " ".join(" ".join(lines).split())
    assert "fct_flight" in " ".join(lines)
    assert lines[0].split()[0] == ("seconds" if columns < 80 else "merge")


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, "-"),
        (0, "0"),
        (7, "7"),
        (7.25, "7.2"),
        (12.5, "12"),
        (99_999, "99,999"),
        (100_000, "100k"),
        (999_499, "999k"),
        (1_234_567, "1.23M"),
        (12_345_678_901, "12.3G"),
        (1_500_000_000_000, "1.5T"),
    ],
)
def test_numbers_are_short(number, text):
    assert _short(number) == text
