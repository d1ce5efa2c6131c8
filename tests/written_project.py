"""Projects made of texts."""

from pathlib import Path
from textwrap import dedent


def write_project(root: Path, schema: str, files: dict[str, str], table_format: str = "delta") -> Path:
    """Write a project of files by path, and give its folder; settings and a profile are added where they are missing.

    `iceberg` puts the schema into the Iceberg catalog of the driver of tests.
    """
    schema = f"ice.{schema}" if table_format == "iceberg" else schema
    kinds = ("models", "seeds") if table_format != "delta" else ()
    tables = "".join(f'[tool.merge-runner.{kind}]\nformat = "{table_format}"\n' for kind in kinds)
    given = {
        "pyproject.toml": f'[tool.merge-runner]\nname = "shop"\n{tables}',
        "profiles.yml": f"shop: {{outputs: {{dev: {{master: 'local[2]', schema: {schema}}}}}}}\n",
        **files,
    }
    return write_files(root, {path: dedent(text) for path, text in given.items()})


def write_files(root: Path, files: dict[str, str]) -> Path:
    """Write texts by their paths below a folder, and give the folder."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root
