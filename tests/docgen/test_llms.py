"""llms.txt names every page of the site, and llms-full.txt every command, key and rule; both stay small."""

import re
from pathlib import Path

import pytest
import yaml

from merge_runner.lint.registry import built_in_rules
from merge_runner.project.schema.config import ModelConfig
from merge_runner.project.schema.profile import Output
from merge_runner.project.schema.settings import SettingsTable
from tests.docs.site import DOCS, TEXTS
from tools.docgen.command_page import commands, options
from tools.docgen.keys import keys
from tools.docgen.llms import llms_index, llms_reference
from tools.docgen.pages import pages

LINK = re.compile(r"^- \[[^\]]+\]\(([^)]+)\): \S.*$", re.MULTILINE)


@pytest.fixture(scope="module")
def written():
    return pages()


@pytest.fixture(scope="module")
def index(written):
    return written["docs/llms.txt"]


def test_the_index_has_every_page_once_and_says_what_it_is_about(index):
    lines = [line for line in index.splitlines() if line.startswith("- ")]
    links = LINK.findall(index)
    assert len(links) == len(lines) == len(set(links))
    assert links[0] == "llms-full.txt"
    files = {DOCS / re.sub(r"(?<=rules/)index$", "README", link.removesuffix(".html")) for link in links[1:]}
    assert {file.with_suffix(".md") for file in files} == {
        page
        for page in TEXTS
        if not re.fullmatch(r"[A-Z]\d+\.md", page.name) and page.name not in ("index.md", "glossary.md")
    }


def test_the_index_has_the_form_of_llmstxt(index):
    assert index.startswith("# merge-runner\n\n> ")
    titles = re.findall(r"^## (.+)$", index, re.MULTILINE)
    assert titles == ["In one file", "Getting started", "Guides", "Reference", "Concepts", "Optional"]


def test_the_reference_has_every_command_key_and_rule(written):
    text = written["docs/llms-full.txt"]
    assert [name for name in commands() if f"- `merge-runner {name}" not in text] == []
    spellings = [option.opts for command in commands().values() for option in options(command)]
    assert [flags for flags in spellings if not any(flag.startswith("--") and flag in text for flag in flags)] == []
    names = [key.name for kind in (ModelConfig, SettingsTable, Output) for key in keys(kind)]
    assert [name for name in names if f"- `{name}` (" not in text] == []
    assert [rule.code for rule in built_in_rules() if f"- {rule.code} {rule.name} (" not in text] == []


def test_both_are_small_and_the_same_each_time(written):
    assert llms_index(written) == written["docs/llms.txt"]
    assert llms_reference() == written["docs/llms-full.txt"]
    assert len(written["docs/llms.txt"]) < 20_000
    assert len(written["docs/llms-full.txt"]) < 40_000


def test_nothing_of_the_machine_is_in_them(written):
    text = written["docs/llms.txt"] + written["docs/llms-full.txt"]
    assert str(Path.home()) not in text
    assert str(DOCS.parent) not in text


def test_the_site_takes_both_as_they_are():
    site = yaml.safe_load((DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8"))
    assert not {"llms.txt", "llms-full.txt"} & set(site["exclude_docs"].split())
