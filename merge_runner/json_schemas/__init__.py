"""The JSON Schemas of a project's files, for editors. `python -m tools.docgen` writes them from the types.

Nothing but the standard library is imported: `validate-pyproject` calls `tool_schema` for every project.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from merge_runner.atomic import write_atomic

Name = Literal["properties", "selectors", "profiles", "catalog", "settings", "pyproject"]
NAMES: Mapping[Name, str] = {
    "properties": "property files: models, seeds, sources, macros and unit tests in YAML",
    "selectors": "selectors.yml",
    "profiles": "profiles.yml",
    "catalog": "catalog.yml, and files for `lint --layout`",
    "settings": "the table [tool.merge-runner] of pyproject.toml",
    "pyproject": "pyproject.toml, of which [tool.merge-runner] alone is checked",
}
"""What each schema describes."""
FOLDER = ".merge-runner/schemas"
"""Where a project has its copies, to which the first lines of its files refer."""


def text(name: Name) -> str:
    """Return a schema as JSON."""
    return files("merge_runner.json_schemas").joinpath(f"{name}.json").read_text(encoding="utf-8")


def tool_schema(tool_name: str = "merge-runner") -> dict[str, Any]:
    """Return the schema of `[tool.merge-runner]`, as the entry point `validate_pyproject.tool_schema`."""
    schema: dict[str, Any] = json.loads(text("settings"))
    return schema


def write_copies(project: Path, names: Iterable[Name] = tuple(NAMES)) -> list[Path]:
    """Write schemas into the folder of a project that has its copies. Return the files. Raises OSError."""
    written = []
    for name in names:
        file = project / FOLDER / f"{name}.json"
        write_atomic(file, text(name))
        written.append(file)
    return written
