"""The texts of the documentation: pages of the repository, and those that are made from the code."""

from __future__ import annotations

from pathlib import Path

from tools.docgen.pages import pages

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = {ROOT / path: text for path, text in pages().items()}
TEXTS = {page: page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md"))} | {
    page: text for page, text in GENERATED.items() if page.suffix == ".md"
}
"""The pages of the site."""
