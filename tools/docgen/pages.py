"""All generated files: the pages of docs and the JSON Schemas; and which of them are out of date."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from merge_runner.atomic import write_atomic
from merge_runner.lint import documentation
from merge_runner.lint.registry import built_in_rules
from tools.docgen import command_page, error_page, project_pages, python_page, record_pages, yaml_page
from tools.docgen.file_schemas import schemas
from tools.docgen.llms import llms_index, llms_reference

FOLDERS = ("docs/reference", "docs/reference/rules")
"""Where the pages are. In the second one there are no others."""
SCHEMAS = "merge_runner/json_schemas"


def pages() -> dict[str, str]:
    """Return the texts of all generated files by their paths in the repository."""
    reference, of_rules = FOLDERS
    written = {
        "configuration.md": project_pages.configuration(),
        "profiles.md": project_pages.profiles(),
        "settings.md": project_pages.settings(),
        "yaml.md": yaml_page.yaml(),
        "cli.md": command_page.command_line(),
        "python-api.md": python_page.python_interface(),
        "error-codes.md": error_page.error_codes(),
        "adapter-response.md": record_pages.adapter_response(),
        "journal-events.md": record_pages.journal_events(),
    }
    found = {f"{reference}/{name}": text for name, text in written.items()}
    found |= {f"{SCHEMAS}/{name}.json": text for name, text in schemas().items()}
    found |= {f"{of_rules}/{name}": text for name, text in documentation.pages(built_in_rules()).items()}
    return found | {"docs/llms.txt": llms_index(found), "docs/llms-full.txt": llms_reference()}


def out_of_date(root: Path) -> Iterator[str]:
    """Yield the paths of pages that are missing, differ from the code, or are of a rule that is gone."""
    wanted = pages()
    for path, text in wanted.items():
        file = root / path
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            yield path
    yield from (path for path in _of_rules(root) if path not in wanted)


def write(root: Path) -> None:
    """Write all pages, and remove those of rules that are gone. Raises OSError."""
    wanted = pages()
    for path, text in wanted.items():
        write_atomic(root / path, text)
    for path in _of_rules(root):
        if path not in wanted:
            (root / path).unlink()


def _of_rules(root: Path) -> list[str]:
    return [file.relative_to(root).as_posix() for file in sorted((root / FOLDERS[1]).glob("*.md"))]
