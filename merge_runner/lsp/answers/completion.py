"""What may be written at a cursor, in every kind of file."""

from __future__ import annotations

from collections.abc import Sequence

from merge_runner.lsp.answers.sql_completion import Completion, sql_completions
from merge_runner.lsp.answers.yaml_completion import toml_completions, yaml_completions
from merge_runner.lsp.documents.project_index import ProjectIndex

MOST = 100
"""As many are shown: a client asks again while more is typed."""


def completions(project: ProjectIndex, path: str, text: str, offset: int) -> list[Completion]:
    """Return what may be written at `offset`; all of it, whatever the word before the cursor begins with."""
    if path.endswith((".yml", ".yaml")):
        return yaml_completions(project, path, text, offset)
    if path.endswith(".toml"):
        return toml_completions(path, text, offset)
    return sql_completions(project, path, text, offset) if path.endswith(".sql") else []


def typed(completions: Sequence[Completion], text: str, offset: int) -> list[Completion]:
    """Return those that have what is typed: labels that begin with it, then those that hold it, then its letters."""
    ranked = []
    for completion in completions:
        word, label = text[completion.replaces.start : offset].casefold(), completion.label.casefold()
        rank = 0 if label.startswith(word) else 1 if word in label else 2 if _has_letters(label, word) else None
        if rank is not None:
            ranked.append((rank, completion))
    ranked.sort(key=lambda pair: pair[0])
    return [completion for _, completion in ranked]


def _has_letters(label: str, word: str) -> bool:
    """Return whether a label has the letters of a word in their order."""
    letters = iter(label)
    return all(letter in letters for letter in word)
