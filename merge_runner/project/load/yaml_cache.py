"""The YAML files of a project as earlier runs have read them: data and places, under a key of path and text.

No file with a problem is kept, nor what JSON cannot hold (a date), nor one that may hold a secret or whose aliases
share what they name.
"""

from __future__ import annotations

from merge_runner.errors import Problems
from merge_runner.project.syntax.secret_names import may_name_secrets
from merge_runner.project.syntax.yaml_tree import YamlTree, yaml_tree
from merge_runner.store import Store, key, toolchain_hash
from merge_runner.text import SourceText


class YamlCache:
    """Reads YAML files; `store` None: each again."""

    def __init__(self, store: Store | None, problems: Problems) -> None:
        self._store = store
        self._problems = problems

    def tree(self, source: SourceText) -> YamlTree | None:
        """Return what `yaml_tree` does."""
        if self._store is None:
            return yaml_tree(source, self._problems)
        about = key("yaml", toolchain_hash(), source.path, source.text)
        entry = self._store.get(about)
        if entry is not None:
            data, root = entry[1]
            return YamlTree(source, data, root)
        before = len(self._problems)
        tree = yaml_tree(source, self._problems)
        shared = "&" in source.text and "*" in source.text
        if tree is not None and len(self._problems) == before and not shared and not may_name_secrets(source.text):
            self._store.put(about, [tree.data, tree.root])
        return tree
