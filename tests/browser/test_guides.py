"""The pictures of the guides, made of the flights project as a build has left it.

SCREENSHOTS=docs/assets/pages pytest tests/browser/test_guides.py
"""

import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from merge_runner import Project
from merge_runner.pages.runs.history import keep
from merge_runner.pages.runs.runs_page import write_report
from tests.browser.test_run_page import BATCHES, COMPARED, FLIGHTS, MENDED, SECOND, earlier_runs

ROOT = Path(__file__).resolve().parents[2]
NODE = "#/node/model.flights.fct_flight"
PICTURES = {
    "project": ("docs", "", False),
    "graph": ("docs", "#/graph", True),
    "scan": ("docs", f"{NODE}?tab=scan", False),
    "code": ("docs", f"{NODE}?tab=code", True),
    "lineage": ("docs", f"{NODE}?tab=lineage&column=arr_delay", False),
    "run": ("runs", "", False),
    "merges": ("compared", f"#/run/{COMPARED['id']}?tab=merges", False),
    "versions": ("two", NODE, False),
    "batches": ("batches", "#/node/model.shop.fct_sale", False),
    "rows": ("compared", f"#/run/{COMPARED['id']}?tab=rows", False),
    "comment": ("comment", "", False),
    "history": ("runs", "#/history", True),
}


COMMENT = """<!doctype html><html lang="en" data-shown=""><meta charset="utf-8"><title>Comment</title><style>
body {{ font: 14px/1.5 sans-serif; max-width: 900px; margin: 24px auto; padding: 0 24px; border: 1px solid #d1d9e0 }}
code, pre {{ background: #f0f1f3; border-radius: 6px; font-family: monospace; font-size: 12px }}
code {{ padding: 2px 4px }} pre {{ padding: 12px; overflow: auto }} pre code {{ padding: 0 }}
</style>{}</html>"""
"""A page like that of GitHub, for the Markdown of a comment."""


def comment_page(path):
    """Write the comment of the guide as a page, with the details open."""
    (text,) = re.findall(r"^````markdown\n(.*?)^````$", (ROOT / "docs/guides/diff.md").read_text(), re.M | re.S)
    html = MarkdownIt("gfm-like", {"linkify": False, "html": True}).render(text)
    path.write_text(COMMENT.format(html.replace("<details>", "<details open>")))
    return path


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    target = tmp_path_factory.mktemp("flights")
    for each in (*earlier_runs(), FLIGHTS):
        keep(target, each)
    two = tmp_path_factory.mktemp("two")
    for each in (FLIGHTS, SECOND):
        keep(two, each)
    compared = tmp_path_factory.mktemp("compared")
    keep(compared, COMPARED)
    batches = tmp_path_factory.mktemp("batches")
    for each in (BATCHES, MENDED):
        keep(batches, each)
    docs = Project.load(ROOT, target_path=str(target)).docs(static=True)
    return {
        "docs": docs,
        "runs": write_report(target),
        "two": write_report(two),
        "compared": write_report(compared),
        "batches": write_report(batches),
        "comment": comment_page(tmp_path_factory.mktemp("comment") / "comment.html"),
    }


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture(page, pages, name):
    which, at, dark = PICTURES[name]
    page.open(pages[which], at, dark=dark, height=1000)
    page.screenshot(name)


def test_the_guides_show_them():
    shown = {path.stem for path in (ROOT / "docs/assets/pages").glob("*.png")}
    assert shown == set(PICTURES)
