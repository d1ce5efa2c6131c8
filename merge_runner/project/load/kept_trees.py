"""The YAML files of a project as earlier runs have read them: data and places, kept while the text is the same.

Of a file there is one version at most. One with a problem is not kept, nor what JSON cannot hold (a date), nor one that
may hold a secret or whose aliases share what they name.
"""

from __future__ import annotations

from merge_runner.contributions import Contributions, key, tool
from merge_runner.errors import Problems
from merge_runner.project.syntax.secret_names import may_name_secrets
from merge_runner.project.syntax.yaml_tree import YamlTree, yaml_tree
from merge_runner.text import SourceText


class KeptTrees:
    """Reads YAML files; `kept` None: each again."""

    def __init__(self, kept: Contributions | None, problems: Problems) -> None:
        self._kept = kept
        self._problems = problems

    def tree(self, source: SourceText) -> YamlTree | None:
        """Return what `yaml_tree` does."""
        if self._kept is None:
            return yaml_tree(source, self._problems)

        def answer(_kind: str, _path: str) -> str:
            return key(source.text).hex()

        about = key("yaml", tool(), source.path)
        found = self._kept.get(about, answer)
        if found is not None:
            data, root = found[1]
            return YamlTree(source, data, root)
        before = len(self._problems)
        tree = yaml_tree(source, self._problems)
        shared = "&" in source.text and "*" in source.text
        if tree is not None and len(self._problems) == before and not shared and not may_name_secrets(source.text):
            self._kept.put(about, [("yaml", source.path)], answer, [tree.data, tree.root])
        return tree
