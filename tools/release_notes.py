"""The notes of a release: its section of CHANGELOG.md. `python -m tools.release_notes v0.1.0` prints it.

It ends with status 1 where a tag is not the version of pyproject.toml, or its section is missing or not dated.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_ROOT = Path(__file__).parents[1]
_HEADING = re.compile(r"^## (?P<version>\S+) \((?P<date>[^)]*)\)$", re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:|#)([^)\s]+)\)")


def release_notes(tag: str, pyproject: str, changelog: str) -> str:
    """Return what the changelog says about the version of a tag; its links lead to the files of the tag.

    Raise ValueError where the tag is not `v` and the version in pyproject.toml, or the version has no dated section.
    """
    project = tomllib.loads(pyproject)["project"]
    version = project["version"]
    if tag != f"v{version}":
        raise ValueError(f"the tag {tag} is not v{version}, the version in pyproject.toml")
    headings = list(_HEADING.finditer(changelog))
    number = next((number for number, heading in enumerate(headings) if heading["version"] == version), None)
    if number is None:
        raise ValueError(f"CHANGELOG.md has no section `## {version} (date)`")
    heading = headings[number]
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", heading["date"]):
        raise ValueError(f"CHANGELOG.md says of {version}: {heading['date']}. Write the date of the release")
    end = headings[number + 1].start() if number + 1 < len(headings) else len(changelog)
    base = f"{project['urls']['Repository']}/blob/{tag}"
    return _LINK.sub(rf"]({base}/\1)", changelog[heading.end() : end]).strip() + "\n"


def main() -> int:
    """Print the notes of the tag that the command line names; return the exit status."""
    (tag,) = sys.argv[1:]
    files = [(_ROOT / name).read_text(encoding="utf-8") for name in ("pyproject.toml", "CHANGELOG.md")]
    try:
        sys.stdout.write(release_notes(tag, *files))
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
