"""Applies the fixes of a report to files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from merge_runner.atomic import write_atomic
from merge_runner.errors import Messages
from merge_runner.lint.finding import Fix
from merge_runner.lint.fixes import apply
from merge_runner.lint.report import Report
from merge_runner.project_file import read_file
from merge_runner.text import SourceText

_MARK = "\ufeff"
_SQL = (".sql", ".yml", ".yaml", ".toml")
_WORDS = re.compile(r"[\w, -]*")


def fix(files: Mapping[str, Path], report: Report, messages: Messages, *, unsafe: bool) -> None:
    """Writes each of the files, by path in the report, with its fixes; all that no fix touches stays, byte for byte."""
    left = 0
    in_cells = {finding.place.path for finding in report.findings if finding.fix and finding.place.cell is not None}
    for path in sorted(in_cells):
        messages.say(f"{path}: not fixed, a notebook is fixed in its editor", "warn")
    for path in report.sources:
        fixes = [finding.fix for finding in report.findings if finding.place.path == path and finding.fix is not None]
        if not path.lower().endswith(_SQL):
            fixes, by_hand = _harmless(fixes), len(fixes) - len(_harmless(fixes))
            if by_hand:
                messages.say(
                    f"{path}: {_count_fixes(by_hand)} left out, which would write SQL into a string of code", "warn"
                )
        if not fixes or path not in files:
            continue
        file = files[path].resolve()  # a link stays one
        try:
            raw = read_file(file, None).decode("utf-8")
        except UnicodeDecodeError:  # as text it would have other bytes
            messages.say(f"{path}: not fixed, it is not UTF-8", "warn")
            continue
        # A place means the same with these newlines: none of them has a column after its line's text.
        text = raw.removeprefix(_MARK)
        if text.replace("\r\n", "\n") != report.sources[path]:
            why = "it has changed meanwhile or has carriage returns within its lines"
            messages.say(f"{path}: not fixed, {why}", "warn")
            continue
        left += sum(change.applicability == "unsafe" for change in fixes)
        ending = "\r\n" if "\r\n" in text else "\n"
        fixed = apply(SourceText(path, text), [_with_newlines(change, ending) for change in fixes], unsafe)
        if fixed.applied:
            write_atomic(file, (_MARK if raw != text else "") + fixed.text)
            messages.say(f"{path}: {_count_fixes(len(fixed.applied))} applied")
    if left and not unsafe:
        them = "it" if left == 1 else "them"
        messages.say(f"{_count_fixes(left)} may change what a MERGE does: --unsafe-fixes applies {them}")


def _harmless(fixes: Sequence[Fix]) -> list[Fix]:
    """The fixes that write words alone, or nothing: quotes and braces have a meaning in a string of code."""
    return [fix for fix in fixes if all(_WORDS.fullmatch(edit.content) for edit in fix.edits)]


def _with_newlines(fix: Fix, ending: str) -> Fix:
    return replace(fix, edits=tuple(replace(edit, content=edit.content.replace("\n", ending)) for edit in fix.edits))


def _count_fixes(fixes: int) -> str:
    return f"{fixes:,} fix" + ("" if fixes == 1 else "es")
