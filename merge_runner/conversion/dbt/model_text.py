"""Texts of models: a config() call, and a template of dbt's in its place in a MERGE."""

from __future__ import annotations

import re
from collections.abc import Mapping

from merge_runner.conversion.dbt.config_call import Value
from merge_runner.conversion.dbt.project import DbtModelFile

_WIDTH = 120
_HEAD = re.compile(r"(?:[ \t]*(?:--[^\n]*)?\n|\s*\{#.*?#\}[ \t]*\n)*", re.DOTALL)
_WITHOUT_TEXT = re.compile(
    r"\{#.*?#\}|\{%[-+]?\s*(?P<block>set|macro|call)\s+[^=%]*?[-+]?%\}|\{%.*?%\}|--[^\n]*|\s+", re.DOTALL
)
"""What puts out nothing but blanks: comments, and statements of Jinja; a block sets what is in it."""
_ENDS = {block: re.compile(rf"\{{%[-+]?\s*end{block}\s*[-+]?%\}}") for block in ("set", "macro", "call")}
_INTERNAL = re.compile(r"\bDBT_INTERNAL_(DEST|SOURCE)\b", re.IGNORECASE)


def config_call(values: Mapping[str, Value]) -> str:
    """Return the call of config() with these values, on as many lines as it needs; empty for none."""
    if not values:
        return ""
    items = [f"{key}={value.expression}" for key, value in values.items()]
    line = f"{{{{ config({', '.join(items)}) }}}}"
    if len(line) <= _WIDTH and "\n" not in line:
        return line
    return "{{ config(\n" + "".join(f"    {item},\n" for item in items) + ") }}"


def head_and_query(model: DbtModelFile) -> tuple[str, str]:
    """Return what the model's template begins with, and the rest without config() and semicolon.

    That are comments, and the `{% set %}` and other statements before config(), which it may read.
    """
    text = model.body.of(model.source.text)
    head = _HEAD.match(text)
    first = min((call.span.start for call in model.calls), default=0)
    head_end = head.end() if head is not None and head.end() <= first else 0
    if "{%" in text[:first] and _puts_out_nothing(text[:first]):
        head_end = first
    pieces, at = [], head_end
    for call in model.calls:
        pieces.append(text[at : call.span.start])
        at = call.span.end
    query = "".join([*pieces, text[at:]]).strip("\n").rstrip()
    return text[:head_end].strip("\n"), query.removesuffix(";").rstrip()


def _puts_out_nothing(text: str) -> bool:
    at, without_end = 0, set()
    while at < len(text):
        block_begin = _WITHOUT_TEXT.match(text, at)
        if block_begin is None:
            return False
        at, block = block_begin.end(), block_begin["block"]
        if block is None or block in without_end:
            continue
        end = _ENDS[block].search(text, at)
        if end is None:
            without_end.add(block)
        else:
            at = end.end()
    return True


def indented(text: str, by: int = 4) -> str:
    """Return a text with its lines indented, unless one of them ends inside of a string or a comment."""
    lines = text.split("\n")
    if "/*" in text or any(line.count("'") % 2 or line.count('"') % 2 for line in lines):
        return text
    return "\n".join(f"{' ' * by}{line}" if line.strip() else "" for line in lines)


def renamed(text: str, target: str, source: str) -> str:
    """Return a condition with the aliases of the MERGE in the place of dbt's."""
    return _INTERNAL.sub(lambda alias: target if alias[1].upper() == "DEST" else source, text)
