"""What may be written at a cursor in YAML and in pyproject.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator

from merge_runner.graph.graph import ModelNode, SeedNode
from merge_runner.lsp.answers.sql_completion import Completion, columns, refs, sources, values
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.names.documented_keys import keys_at, schema_name
from merge_runner.lsp.names.symbol import CONFIG_COLUMNS, described_node, row_node
from merge_runner.lsp.syntax.outline import Cursor, Entry, cursor_at, toml_outline, yaml_outline
from merge_runner.text import Span

_CALL_BEFORE = re.compile(r"""\b(?P<call>ref|source)\s*\(\s*(?:['"](?P<first>\w+)['"]\s*,\s*)?['"](?P<word>\w*)\Z""")
_TABLE = re.compile(r"^[^\S\n]*\[{1,2}(?P<path>[^\[\]\n]+)\]", re.M)
_TABLE_BEFORE = re.compile(r"^\s*\[+(?P<above>(?:[\w-]+\.)*)(?P<word>[\w-]*)\Z")


def yaml_completions(project: ProjectIndex, path: str, text: str, offset: int) -> list[Completion]:
    """Return what may be written at `offset` of a YAML file of the project."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    if (call := _CALL_BEFORE.search(line)) is not None:
        word = Span(offset - len(call["word"]), offset)
        return list(refs(project, word) if call["call"] == "ref" else sources(project, word, call["first"]))
    cursor = cursor_at(text, yaml_outline(text), offset)
    if not cursor.in_value:
        return list(_keys(project, path, cursor, ": "))
    completions = list(_values(project, path, cursor))
    is_item = cursor.entry is not None and cursor.entry.key is None
    return [*completions, *_keys(project, path, cursor, ": ")] if is_item else completions


def toml_completions(path: str, text: str, offset: int) -> list[Completion]:
    """Return what may be written at `offset` of a pyproject.toml."""
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    if (table_before := _TABLE_BEFORE.search(line)) is not None:
        above = [part for part in table_before["above"].split(".") if part]
        word = Span(offset - len(table_before["word"]), offset)
        keys = keys_at(schema_name(path), above)
        return [Completion(key.name, "key", word, "", key.markdown) for key in keys]
    line_start = offset - len(line)
    table = toml_outline(text)
    header = next(reversed(list(_TABLE.finditer(text, 0, line_start))), None)
    if header is not None:
        for part in header["path"].split("."):
            table = table.get(part.strip("\"' ")) or table
    key, equals, value = line.partition("=")
    if equals:
        named_keys = (
            candidate
            for candidate in keys_at(schema_name(path), table.path)
            if candidate.name == key.strip().lstrip("+")
        )
        word = Span(offset - len(re.split(r"[^\w-]", value)[-1]), offset)
        quote = "" if text[word.start - 1] in "\"'" else '"'
        return [completion for named_key in named_keys for completion in values(named_key, word, quote=quote)]
    siblings = {child.key for child in table.children if not child.span.start <= offset <= child.span.end}
    word = Span(offset - len(line.lstrip()), offset)
    free_keys = (config_key for config_key in keys_at(schema_name(path), table.path) if config_key.name not in siblings)
    return [
        Completion(config_key.name, "key", word, "", config_key.markdown, f"{config_key.name} = ")
        for config_key in free_keys
    ]


def _keys(project: ProjectIndex, path: str, cursor: Cursor, after: str) -> Iterator[Completion]:
    holder = cursor.holder
    in_list = holder.key is not None and bool(holder.children) and holder.children[0].key is None
    item = holder.children[0] if in_list else holder  # next to the items of a list a new one is begun
    siblings = {child.key for child in item.children if child is not cursor.entry} if not in_list else set()
    if item.path[-2:] == ("rows", "[]"):
        node = row_node(project, item)
        for column in columns(project.columns(node), cursor.prefix) if node is not None else ():
            if column.label not in siblings:
                yield Completion(
                    column.label, "column", column.replaces, column.detail, column.markdown, column.label + after
                )
        return
    dash = "- " if in_list else ""
    for key in keys_at(schema_name(path), item.path):
        if key.name not in siblings:
            yield Completion(key.name, "key", cursor.prefix, "", key.markdown, f"{dash}{key.name}{after}")


def _values(project: ProjectIndex, path: str, cursor: Cursor) -> Iterator[Completion]:
    entry = cursor.entry
    assert entry is not None
    replaces = entry.value_span
    above = entry.path
    if above[-1] == "name":
        yield from _names(project, entry, above, replaces)
        return
    if above[-1] == "model" and "unit_tests" in above:
        yield from (
            completion
            for completion in refs(project, replaces)
            if isinstance(project.refs[completion.label], ModelNode)
        )
        return
    key = above[-1] if above[-1] != "[]" else above[-2] if len(above) > 1 else ""
    node = described_node(project, entry)
    if key in CONFIG_COLUMNS and node is not None:
        yield from columns(project.columns(node), replaces)
    elif above[-1] != "[]":
        named_keys = (candidate for candidate in keys_at(schema_name(path), above[:-1]) if candidate.name == above[-1])
        for named_key in named_keys:
            yield from values(named_key, replaces)


def _names(project: ProjectIndex, entry: Entry, above: tuple[str, ...], replaces: Span) -> Iterator[Completion]:
    """Yield the names that the entry of a list may describe and that no other entry of it does."""
    kind = above[-3] if len(above) > 2 else ""
    siblings = entry.parent.parent.children if entry.parent is not None and entry.parent.parent is not None else []
    other_names = {name.value for item in siblings if (name := item.get("name")) is not None and name is not entry}
    if kind in ("models", "seeds"):
        node_type = SeedNode if kind == "seeds" else ModelNode
        completions = [
            completion
            for completion in refs(project, replaces)
            if isinstance(project.refs[completion.label], node_type)
        ]
    elif kind == "columns":
        node = described_node(project, entry)
        completions = list(columns(project.columns(node), replaces)) if node is not None else []
    elif kind == "macros":
        macros = project.macros.values()
        completions = [Completion(macro.name, "macro", replaces, project.macro_signature(macro)) for macro in macros]
    else:
        completions = []
    yield from (completion for completion in completions if completion.label not in other_names)
