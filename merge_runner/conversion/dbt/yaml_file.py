"""The YAML files of dbt, read as dbt does: where a mapping has a key twice, the last one counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import yaml

from merge_runner.errors import Problems
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project.syntax.yaml_tree import YamlTree, yaml_tree
from merge_runner.project_file import Boundary
from merge_runner.text import SourceText


def read_tree(file: Path, path: str, problems: Problems, boundary: Boundary | None) -> YamlTree | None:
    """Return a YAML file of dbt's; None, with problems, where it cannot be read, and without where there is none."""
    source = read_text(file, path, problems, boundary)
    if source is None:
        return None
    own_problems = Problems()
    tree = yaml_tree(source, own_problems)
    if len(own_problems) and all(problem.code == "duplicate-key" for problem in own_problems):
        return yaml_tree(_last_keys(source), problems)
    problems.extend(own_problems)
    return tree


def _last_keys(source: SourceText) -> SourceText:
    """Return a YAML file with blanks in the place of each key that is there again below it, and of its value.

    What is left keeps its place. A key between braces stays, and is an error as in any other file.
    """
    text = source.text
    for start, end in _find_repeated(yaml.compose(text, Loader=yaml.SafeLoader), set()):
        blanks = "".join(char if char == "\n" else " " for char in text[start:end])
        text = text[:start] + blanks + text[end:]
    return SourceText(source.path, text)


def _find_repeated(node: yaml.Node | None, visited: set[int]) -> Iterator[tuple[int, int]]:
    """Yield where keys that come again begin and their values end; a node that has several names is read one time."""
    if node is None or id(node) in visited:
        return
    visited.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _find_repeated(item, visited)
    elif isinstance(node, yaml.MappingNode):
        last = {key.value: number for number, (key, _) in enumerate(node.value) if isinstance(key, yaml.ScalarNode)}
        for number, (key, value) in enumerate(node.value):
            if isinstance(key, yaml.ScalarNode) and last[key.value] != number and not node.flow_style:
                yield key.start_mark.index, value.end_mark.index
            else:
                yield from _find_repeated(value, visited)
