"""What may be written at a cursor, in every kind of file."""

from __future__ import annotations

from merge_runner.lsp.known_project import KnownProject
from merge_runner.lsp.sql_completion import Completion, sql_completions
from merge_runner.lsp.yaml_completion import toml_completions, yaml_completions


def completions(project: KnownProject, path: str, text: str, offset: int) -> list[Completion]:
    """Return what may be written at `offset`; all of it, whatever the word before the cursor begins with.

    A client filters and sorts by what is typed.
    """
    if path.endswith((".yml", ".yaml")):
        return yaml_completions(project, path, text, offset)
    if path.endswith(".toml"):
        return toml_completions(path, text, offset)
    return sql_completions(project, path, text, offset) if path.endswith(".sql") else []
