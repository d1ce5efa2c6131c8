"""No dead link, no page that the navigation leaves out, no path of a page in code that does not exist; without MkDocs.

`make docs` checks the site; these tests also see README, CONTRIBUTING and the examples, and every mention in the code.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.command_lines import ROOT
from tests.yaml_data import read_yaml

DOCS = ROOT / "docs"
PAGES = [
    *sorted(DOCS.rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md", "examples/README.md")),
    ROOT / "editors/vscode/README.md",
    *sorted(ROOT.glob("examples/*/README.md")),
]
_REPOSITORY = re.compile(r"https://github\.com/merge-runner/merge-runner/(?:blob|tree)/main/([^#\s]+)(?:#(.*))?")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_MENTION = re.compile(r"\bdocs/[\w./-]*\w")
_CODE = re.compile(r"^(```+).*?^\1 *$|``.+?``|`[^`\n]+`", re.M | re.S)


def prose(page):
    """Return the text of a page without its code."""
    return _CODE.sub("", page.read_text(encoding="utf-8"))


def anchors(page):
    """Return the anchors of a page, as MkDocs and GitHub make them of its headings."""
    text = re.sub(r"^(```+).*?^\1 *$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    found = set()
    for title in re.findall(r"^#+ +(.+)$", text, re.M):
        words = re.sub(r"[^\w\s-]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()).strip()
        found |= {re.sub(r"[\s-]+", "-", words), re.sub(r"\s", "-", words)}
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    dead = []
    for target in _LINK.findall(prose(page)):
        repository = _REPOSITORY.fullmatch(target)
        if repository:
            file, anchor = ROOT / repository[1], repository[2]
        elif re.match(r"[a-z]+:", target):
            continue
        else:
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
            dead.append(target)
    assert dead == []


def nav(entries):
    """Return the paths in a part of the navigation."""
    for entry in entries:
        value = next(iter(entry.values())) if isinstance(entry, dict) else entry
        yield from [value] if isinstance(value, str) else nav(value)


def test_the_navigation_has_every_page_once():
    listed = list(nav(read_yaml(ROOT / "mkdocs.yml")["nav"]))
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def test_pages_that_are_named_in_code_exist():
    files = [file for folder in ("merge_runner", "tests") for file in (ROOT / folder).rglob("*.py")]
    files += [ROOT / name for name in ("pyproject.toml", "Makefile", "action.yml", ".pre-commit-hooks.yaml")]
    named = {
        (str(file.relative_to(ROOT)), mention)
        for file in files
        for mention in _MENTION.findall(file.read_text(encoding="utf-8"))
        if mention.startswith(tuple(f"docs/{kind.name}" for kind in DOCS.iterdir()))
    }
    assert {path for _, path in named} >= {"docs/reference/rules", "docs/guides/patterns.md"}
    dead = [(file, path) for file, path in sorted(named) if not (ROOT / path).exists()]
    assert [each for each in dead if not each[0].startswith("tests/docgen/")] == []  # these write pages elsewhere


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: str(page.relative_to(DOCS)))
def test_lines_can_be_reviewed(page):
    """No line of prose is longer than 130 characters; tables and code are as wide as they need to be."""
    lines = prose(page).split("\n")
    assert [line for line in lines if len(line) > 130 and not line.startswith(("|", "    "))] == []


def test_anchors_of_headings(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text("# A & `b`: is_c()\n```sh\n# no heading\n```\n## [x](y.md) -- z\n")
    assert anchors(page) == {"a-b-is_c", "a--b-is_c", "x-z", "x----z"}


@pytest.mark.parametrize(
    "page", ["CONTRIBUTING.md", "docs/contributing/architecture.md", "docs/contributing/where-to-change.md"]
)
def test_the_modules_that_contributors_are_sent_to_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = {path for code in re.findall(r"`([^`\n]+)`", text) for path in re.findall(r"[\w.-]+(?:/[\w.-]+)+", code)}
    roots = (ROOT, ROOT / "merge_runner", ROOT / "docs")
    made = {".venv/bin/activate", "target/journal.jsonl"}
    assert named
    assert [path for path in sorted(named - made) if not any((root / path).exists() for root in roots)] == []
