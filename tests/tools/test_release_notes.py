"""The notes of a release are the section of its version."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.release_notes import release_notes

ROOT = Path(__file__).parents[2]
PYPROJECT = '[project]\nversion = "0.2.0"\nurls = { Repository = "https://example.org/r" }\n'
CHANGELOG = """# Changelog

## 0.3.0 (unreleased)

- later

## 0.2.0 (2026-12-01)

- **Lint**: a rule ([P001](docs/P001.md#bad)), and [a page](https://example.org/page).

### Fixed

- a bug

## 0.1.0 (2026-11-01)

First version.
"""


def test_notes_are_the_section_of_the_version_with_links_of_the_tag():
    assert release_notes("v0.2.0", PYPROJECT, CHANGELOG) == (
        "- **Lint**: a rule ([P001](https://example.org/r/blob/v0.2.0/docs/P001.md#bad)), "
        "and [a page](https://example.org/page).\n\n### Fixed\n\n- a bug\n"
    )


def test_the_last_section_ends_with_the_file():
    assert release_notes("v0.1.0", PYPROJECT.replace("0.2.0", "0.1.0"), CHANGELOG) == "First version.\n"


@pytest.mark.parametrize(
    ("tag", "version", "message"),
    [
        ("v0.2.1", "0.2.0", "the tag v0.2.1 is not v0.2.0, the version in pyproject.toml"),
        ("0.2.0", "0.2.0", "the tag 0.2.0 is not v0.2.0"),
        ("v0.4.0", "0.4.0", "no section `## 0.4.0 (date)`"),
        ("v0.3.0", "0.3.0", "says of 0.3.0: unreleased. Write the date"),
    ],
)
def test_what_is_not_ready_is_refused(tag, version, message):
    with pytest.raises(ValueError) as refusal:
        release_notes(tag, PYPROJECT.replace("0.2.0", version), CHANGELOG)
    assert message in str(refusal.value)


def test_the_command_ends_with_a_line_and_a_status():
    command = [sys.executable, "-m", "tools.release_notes", "v0.0.0"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
