"""A YAML file as plain data with the place of each key and value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from merge_runner.errors import Problems
from merge_runner.project.syntax.places import KeyPath
from merge_runner.project.syntax.yaml_marks import Locator, Node, is_scalar, node_place
from merge_runner.project.syntax.yaml_scalar import plain_scalar
from merge_runner.text import Place, SourceText

if TYPE_CHECKING:
    import yaml


@dataclass(frozen=True)
class YamlTree:
    """The content of a YAML file: `data` is plain (mappings have text keys), places are found by key path."""

    source: SourceText
    data: Any
    root: Node | None
    rendered: Mapping[KeyPath, str] = field(default_factory=dict)
    """Texts that were Jinja, by path: what `data` has was made of them."""

    def place(self, path: KeyPath = ()) -> Place:
        """The place of the value at `path`, or of the closest value around it where there is none."""
        node = self._walk(path)[1]
        return self._place(node)

    def key_place(self, path: KeyPath) -> Place:
        """The place of the key that `path` ends in; of the value where it ends in a list's index."""
        key, node = self._walk(path)
        return self._place(key or node)

    def text_place(self, path: KeyPath, offset: int) -> Place:
        """Return the place of the character `offset` of the text at `path`: exact in a block `|`.

        Of any other text, and of one that Jinja has rendered, only the start is known.
        """
        node = self._walk(path)[1]
        if node is None or not is_scalar(node) or node[4] != "|" or path in self.rendered:
            return self._place(node)
        value = str(node[5])
        before = value[:offset]
        number = before.count("\n")
        line = self._place(node).line + 1 + number  # the text begins in the line after `|`
        indent = len(self.source.line(line)) - len(value.split("\n")[number])
        return Place(self.source.path, line, max(indent, 0) + offset - (before.rfind("\n") + 1) + 1)

    def text(self, path: KeyPath) -> str | None:
        """What the author wrote for the scalar at `path`, Jinja rendered; None for anything else, and for null."""
        if path in self.rendered:
            return self.rendered[path]
        _, node = self._walk(path)
        if node is not None and is_scalar(node) and (node[4] or plain_scalar(node[5]) is not None):
            return str(node[5])
        return None

    def _walk(self, path: KeyPath) -> tuple[Node | None, Node | None]:
        key: Node | None = None
        node = self.root
        for step in path:
            content = None if node is None or is_scalar(node) else node[2]
            if isinstance(step, str) and isinstance(content, dict) and step in content:
                key, node = content[step]
            elif isinstance(step, int) and isinstance(content, list) and step < len(content):
                key, node = None, content[step]
            else:
                break
        return key, node

    def _place(self, node: Node | None) -> Place:
        return Place(self.source.path, 1, 1) if node is None else node_place(self.source.path, node)


def yaml_tree(source: SourceText, problems: Problems) -> YamlTree | None:
    """Reads one YAML document; an empty file has the data None.

    Anchors, aliases and merge keys work within bounds. None is returned where the text is no YAML; every problem is
    added to `problems`, duplicate keys among them.
    """
    import yaml  # a tree that an earlier run has kept needs no parser
    from yaml.reader import Reader

    from merge_runner.project.syntax.yaml_compose import OutOfBoundsError, compose

    if bad := Reader.NON_PRINTABLE.search(source.text):
        message = f"the character U+{ord(bad[0]):04X} is not allowed in YAML"
        problems.add("yaml-syntax", message, source.place(bad.start()), 'write it as an escape in a "quoted" text')
        return None
    locator = Locator(source)
    try:
        composed = compose(locator, problems)
    except yaml.MarkedYAMLError as error:
        _add_syntax_problem(source, error, problems)
        return None
    except OutOfBoundsError:
        return None
    return YamlTree(source, composed.value, composed.node) if composed else YamlTree(source, None, None)


_HINTS: Sequence[tuple[str, str]] = (
    ("mapping values are not allowed", 'quote a text that holds ": "'),
    ("cannot start any token", "indent with spaces, and quote a text that starts with a sign such as @ ` or %"),
    ("unexpected end of stream", "a quote is not closed"),
    ("expected ',' or", "a bracket is not closed, or a comma is missing"),
    ("block", "lines of one level must be indented alike"),
)


def _add_syntax_problem(source: SourceText, error: yaml.MarkedYAMLError, problems: Problems) -> None:
    mark = error.problem_mark or error.context_mark
    place = source.place(mark.index) if mark else Place(source.path, 1, 1)
    message = f"not YAML: {error.problem or error.context}"
    if error.context and error.context_mark:
        start = source.place(error.context_mark.index)
        if start.line != place.line:
            message += f" ({error.context} that begins in line {start.line})"
    message_of_parser = f"{error.context} {error.problem}"
    hint = next((hint for part, hint in _HINTS if part in message_of_parser), None)
    problems.add("yaml-syntax", message, place, hint)
