"""The signature of the call that a cursor is in."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.names.built_ins import BUILT_INS
from merge_runner.lsp.syntax.tokens import Call, call_at, scanned


@dataclass(frozen=True)
class Signature:
    """How a macro or built-in is called; `parameters` are parts of the label, `active` is the one that is written."""

    label: str
    parameters: tuple[str, ...]
    active: int
    markdown: str


def signature_help(project: ProjectIndex, text: str, offset: int) -> Signature | None:
    """Return the signature of the innermost call of a macro or built-in around a cursor in a tag."""
    call = call_at(scanned(text), offset)
    if call is None:
        return None
    macro = project.macro(call.name.text)
    if macro is not None:
        label, markdown = project.macro_signature(macro), project.macro_text(macro)
    elif call.name.text in BUILT_INS:
        label, markdown = BUILT_INS[call.name.text]
    else:
        return None
    inside = label.partition("(")[2].rpartition(")")[0]
    parameters = tuple(part.strip() for part in _parts(inside))
    return Signature(label, parameters, _active(call, parameters, offset), markdown)


def _active(call: Call, parameters: tuple[str, ...], offset: int) -> int:
    number = min(call.argument_at(offset), len(call.arguments) - 1)
    keyword = call.arguments[number].keyword
    if keyword is not None:
        names = [parameter.partition("=")[0].strip() for parameter in parameters]
        number = names.index(keyword.text) if keyword.text in names else number
    return min(number, max(len(parameters) - 1, 0))


def _parts(text: str) -> list[str]:
    """Return the parts of a parameter list, which commas in brackets and strings do not divide."""
    parts, depth, quote = [""], 0, ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "," and not depth:
            parts.append("")
            continue
        else:
            depth += (char in "([{") - (char in ")]}")
        parts[-1] += char
    return [part for part in parts if part.strip()]
