"""Where a key or an item is inserted into a YAML text, and how it is written there: everything else stays as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import yaml
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

_ENDLESS = 1 << 20
"""A width of lines that no text reaches: what is written in a line stays in it."""


@dataclass(frozen=True)
class Insertion:
    """A text that is inserted at `offset`, counted in characters."""

    offset: int
    text: str


@dataclass(frozen=True)
class New:
    """What is to be inserted: as lines in block style from column 0, and as a value in flow style.

    `inline`: in block style it is written in the line of its key, as a scalar is.
    """

    block: str
    flow: str
    inline: bool = False

    @classmethod
    def scalar(cls, text: str) -> New:
        """Return a text."""
        return cls(scalar(text), flow([text])[1:-1], inline=True)

    @classmethod
    def mapping(cls, keys: Mapping[str, New]) -> New:
        """Return a mapping."""
        inside = ", ".join(f"{key}: {value.flow}" for key, value in keys.items())
        return cls("\n".join(_key_lines(key, value) for key, value in keys.items()), "{" + inside + "}")

    @classmethod
    def sequence(cls, items: Sequence[New]) -> New:
        """Return a list."""
        inside = f"[{', '.join(item.flow for item in items)}]"
        if not items:
            return cls(inside, inside, inline=True)
        return cls("\n".join("- " + indented(item.block, 2).lstrip() for item in items), inside)

    @classmethod
    def row(cls, values: Mapping[str, object]) -> New:
        """Return a mapping of plain values that is written in a line in block style, too."""
        return cls(flow(dict(values)), flow(dict(values)))


def scalar(text: str) -> str:
    """Return a text as a scalar of YAML in block style."""
    return yaml.safe_dump(text, allow_unicode=True, width=_ENDLESS).removesuffix("\n").removesuffix("\n...")


def flow(value: object) -> str:
    """Return plain data in flow style, in a line."""
    return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=_ENDLESS).strip()


def indented(block: str, by: int) -> str:
    """Return lines indented by so many columns; empty ones stay empty."""
    return "\n".join(" " * by + line if line else line for line in block.split("\n"))


class YamlDocument:
    """A YAML text that can be read; what is inserted leaves it so. What cannot be placed for certain is None."""

    def __init__(self, text: str) -> None:
        """Raises yaml.YAMLError for a text that is no YAML document."""
        self.text = text
        self.root: Node | None = yaml.compose(text, Loader=yaml.SafeLoader)

    def value(self, holder: Node | None, key: str) -> Node | None:
        """Return the value of a key of a mapping; None where there is no mapping or no such key."""
        return next((value for name, value in _pairs(holder) if name.value == key), None)

    def items(self, holder: Node | None) -> Sequence[Node]:
        """Return the items of a list; none of what is no list."""
        return holder.value if isinstance(holder, SequenceNode) else ()

    def find(self, holder: Node | None, name: str, *, fold: bool = False) -> Node | None:
        """Return the item of a list whose `name` this is; with `fold` whatever the case of its letters."""
        name_wanted = name.casefold() if fold else name
        for item in self.items(holder):
            item_name = self.value(item, "name")
            if (
                isinstance(item_name, ScalarNode)
                and (item_name.value.casefold() if fold else item_name.value) == name_wanted
            ):
                return item
        return None

    def key(self, holder: Node | None, key: str, new: New, *, after: str | None = None) -> Insertion | None:
        """Insert a key, whose value is `new`, at the end of a mapping, or after another key; None: the empty text."""
        if holder is None:
            return Insertion(len(self.text), _separate(self.text) + _key_lines(key, new) + "\n")
        pairs = [pair for pair in _pairs(holder) if after is None or pair[0].value == after]
        if not isinstance(holder, MappingNode) or not pairs:
            return None
        name, value = pairs[-1]
        end = self._end_of(name, value)
        if holder.flow_style:
            is_here = end is not None and name.end_mark.index < value.start_mark.index < end
            return Insertion(end, f", {key}: {new.flow}") if end is not None and is_here else None
        at = holder.value[0][0].start_mark.column
        return self._line_after(end, indented(_key_lines(key, new), at))

    def items_of(self, holder: Node | None, key: str, new: Sequence[New]) -> Insertion | None:
        """Insert items at the end of the list that is the value of a key, or the key with them."""
        sequence = New.sequence(new)
        block, inside = sequence.block, sequence.flow[1:-1]
        pair = next(((name, value) for name, value in _pairs(holder) if name.value == key), None)
        if pair is None:
            return self.key(holder, key, sequence)
        name, value = pair
        if _is_empty(value) and isinstance(holder, MappingNode) and not holder.flow_style:
            return self._line_after(name.end_mark.index, indented(block, name.start_mark.column + 2))
        if not isinstance(value, SequenceNode) or value.start_mark.index < name.end_mark.index:
            return None  # an alias: the list is written elsewhere
        if value.flow_style and not value.value:
            return Insertion(value.start_mark.index + 1, inside)
        end = self._end(value.value[-1], value.start_mark.index) if value.value else None
        if value.flow_style:
            return Insertion(end, f", {inside}") if end is not None else None
        return self._line_after(end, indented(block, value.start_mark.column))

    def _line_after(self, end: int | None, block: str) -> Insertion | None:
        """Insert lines after the line in which something ends."""
        if end is None:
            return None
        newline = self.text.find("\n", end)
        return Insertion(newline if newline >= 0 else len(self.text), f"\n{block}")

    def _end_of(self, name: Node, value: Node) -> int | None:
        """Return the offset after a key and its value."""
        if value.start_mark.index < name.end_mark.index:  # an alias: one word in the line of its key
            newline = self.text.find("\n", name.end_mark.index)
            return newline if newline >= 0 else len(self.text)
        return name.end_mark.index if _is_empty(value) else self._end(value, name.end_mark.index)

    def _end(self, node: Node, after: int) -> int | None:
        """Return the offset after a node, comments and blank lines left out; None for an alias in a list."""
        if node.start_mark.index < after:
            return None
        if isinstance(node, CollectionNode) and not node.flow_style and node.value:
            last = node.value[-1]
            return self._end(last, node.start_mark.index) if isinstance(node, SequenceNode) else self._end_of(*last)
        is_block = isinstance(node, ScalarNode) and node.style in ("|", ">")
        return len(self.text[: node.end_mark.index].rstrip()) if is_block else node.end_mark.index


def _pairs(holder: Node | None) -> Sequence[tuple[Node, Node]]:
    return holder.value if isinstance(holder, MappingNode) else ()


def _is_empty(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.start_mark.index == node.end_mark.index


def _key_lines(key: str, new: New) -> str:
    """Return the lines of a key: a list or mapping below it, a scalar in its line."""
    return f"{key}: {new.block}" if new.inline else f"{key}:\n{indented(new.block, 2)}"


def _separate(text: str) -> str:
    return "" if not text or text.endswith("\n") else "\n"
