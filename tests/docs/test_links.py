"""No dead link, no page that the navigation leaves out, no path of a page in code that does not exist; without MkDocs.

`make docs` checks the site; these tests also see README, CONTRIBUTING and the examples, and every mention in the code.
"""

from __future__ import annotations

import re

import pytest

from merge_runner.lint.finding import RULES_SITE
from tests.docs.site import DOCS, GENERATED, ROOT, TEXTS
from tests.yaml_data import read_yaml

OTHERS = [
    *(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING", "benchmarks/README", "examples/README")),
    ROOT / "editors/vscode/README.md",
    *sorted(ROOT.glob("examples/*/README.md")),
]
PAGES = TEXTS | {page: page.read_text(encoding="utf-8") for page in OTHERS}
_REPOSITORY = re.compile(r"https://github\.com/merge-runner/merge-runner/(?:blob|tree)/main/([^#\s]+)(?:#(.*))?")
_SITE = re.compile(r"https://merge-runner\.github\.io/merge-runner/([^#\s]+)\.html(?:#(.*))?")
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_MENTION = re.compile(r"\bdocs/[\w./-]*\w")
_CODE = re.compile(r"^(```+).*?^\1 *$|``.+?``|`[^`\n]+`", re.M | re.S)


def prose(page):
    """Return the text of a page without its code."""
    return _CODE.sub("", PAGES[page])


def anchors(text):
    """Return the anchors of a page, as MkDocs and GitHub make them of its headings."""
    text = re.sub(r"^(```+).*?^\1 *$", "", text, flags=re.M | re.S)
    found = set()
    for title in re.findall(r"^#+ +(.+)$", text, re.M):
        words = re.sub(r"[^\w\s-]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower()).strip()
        found |= {re.sub(r"[\s-]+", "-", words), re.sub(r"\s", "-", words)}
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    dead = []
    for target in _LINK.findall(prose(page)):
        repository, site = _REPOSITORY.fullmatch(target), _SITE.fullmatch(target)
        if repository:
            file, anchor = ROOT / repository[1], repository[2]
        elif site:
            file, anchor = DOCS / (re.sub(r"(^|/)index$", r"\1README", site[1]) + ".md"), site[2]
        elif re.match(r"[a-z]+:", target):
            continue
        else:
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
        is_there = file in PAGES or file in GENERATED or file.exists()
        if not is_there or (anchor and file in PAGES and anchor not in anchors(PAGES[file])):
            dead.append(target)
    assert dead == []


@pytest.mark.parametrize("page", OTHERS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_files_that_are_read_on_github_lead_to_no_generated_page(page):
    paths = [target.partition("#")[0] for target in _LINK.findall(prose(page)) if "://" not in target]
    assert [path for path in paths if (page.parent / path).resolve() in GENERATED] == []


def test_the_page_of_a_rule_is_one_of_the_site():
    assert f"{read_yaml(ROOT / 'mkdocs.yml')['site_url']}reference/rules/" == RULES_SITE


def nav(entries):
    """Return the paths in a part of the navigation."""
    for entry in entries:
        value = next(iter(entry.values())) if isinstance(entry, dict) else entry
        yield from [value] if isinstance(value, str) else nav(value)


def test_the_navigation_has_every_page_once():
    listed = list(nav(read_yaml(ROOT / "mkdocs.yml")["nav"]))
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in TEXTS)


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
    folders = {page.parent for page in GENERATED}
    places = {ROOT / path: (file, path) for file, path in sorted(named)}
    assert [
        named for place, named in places.items() if not (place in GENERATED or place in folders or place.exists())
    ] == []


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(DOCS)))
def test_lines_can_be_reviewed(page):
    """No line of prose is longer than 130 characters; tables and code are as wide as they need to be."""
    lines = prose(page).split("\n")
    assert [line for line in lines if len(line) > 130 and not line.startswith(("|", "    "))] == []


def test_anchors_of_headings():
    page = "# A & `b`: is_c()\n```sh\n# no heading\n```\n## [x](y.md) -- z\n"
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
