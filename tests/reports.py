"""Reports that tests write: Markdown in the folder that REPORTS names, else in target/reports."""

from __future__ import annotations

import os
from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[1] / "target" / "reports"


def write_report(name: str, text: str) -> Path:
    """Write a report, and return its file."""
    file = Path(os.environ.get("REPORTS") or _FOLDER) / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text.rstrip("\n") + "\n", encoding="utf-8")
    return file
