"""What is made from the code: pages of the documentation, which `make docs` adds to it, and the JSON Schemas."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from merge_runner.atomic import write_atomic
from merge_runner.lint import documentation
from merge_runner.lint.registry import built_in_rules
from tools.docgen import command_page, error_page, project_pages, python_page, record_pages, yaml_page
from tools.docgen.file_schemas import schemas
from tools.docgen.llms import llms_index, llms_reference

SCHEMAS = "merge_runner/json_schemas"
"""Where the JSON Schemas are, which belong to the package."""


def pages() -> dict[str, str]:
    """Return the generated files of the documentation by their paths in the repository, where they are not kept."""
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
    written |= {f"rules/{name}": text for name, text in documentation.pages(built_in_rules()).items()}
    reference = {f"docs/reference/{name}": text for name, text in written.items()}
    return reference | {"docs/llms.txt": llms_index(reference), "docs/llms-full.txt": llms_reference()}


def out_of_date(root: Path) -> Iterator[str]:
    """Yield the paths of JSON Schemas that are missing or differ from the code."""
    for path, text in _schema_files().items():
        file = root / path
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            yield path


def write(root: Path) -> None:
    """Write the JSON Schemas. Raises OSError."""
    for path, text in _schema_files().items():
        write_atomic(root / path, text)


def _schema_files() -> dict[str, str]:
    return {f"{SCHEMAS}/{name}.json": text for name, text in schemas().items()}
