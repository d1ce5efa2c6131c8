"""The baseline: a committed file of the findings that were there before, which are not reported again."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merge_runner.atomic import write_atomic
from merge_runner.errors import Problems, ProblemsError
from merge_runner.lint.finding import Finding
from merge_runner.lint.options import LintOptions
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project_file import Boundary
from merge_runner.text import Place, SourceText

DEFAULT = "lint-baseline.json"
"""Where a baseline is written, and looked for, when nothing says where."""

VERSION = 1
_LONGEST = 120


@dataclass(frozen=True, order=True)
class Entry:
    """Findings that are the same but for their place: `key` is Finding.key, `text` is for people."""

    path: str
    code: str
    text: str
    key: str
    count: int = 1


@dataclass(frozen=True)
class BaselineResult:
    """What a baseline leaves of the findings: those to report, how many it hid, how many of its entries are gone."""

    visible: tuple[Finding, ...]
    hidden: int
    stale: int


@dataclass(frozen=True)
class Baseline:
    """The findings that were there before, in the order of their files and codes."""

    entries: tuple[Entry, ...] = ()

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> Baseline:
        """The baseline that hides these findings."""
        first: dict[str, Finding] = {}
        counts: Counter[str] = Counter()
        for finding in findings:
            first.setdefault(finding.key, finding)
            counts[finding.key] += 1
        entries = (
            Entry(finding.place.path, finding.code, _text(finding), key, counts[key]) for key, finding in first.items()
        )
        return cls(tuple(sorted(entries)))

    @classmethod
    def read(cls, file: Path, path: str, boundary: Boundary | None) -> Baseline:
        """Reads a file, named `path` in places; raises ProblemsError where it is missing or no baseline.

        It is inside of the boundary; None is for a file that the user has named.
        """
        problems = Problems()
        if not os.path.lexists(file):
            hint = f"`merge-runner lint --write-baseline {path}` writes it"
            problems.add("missing-baseline", "there is no baseline", Place(path, 1, 1), hint)
            problems.check()
        source = read_text(file, path, problems, boundary)
        problems.check()
        return cls() if source is None else cls.parse(source)

    @classmethod
    def of_options(cls, options: LintOptions, root: Path, named: str | None) -> Baseline | None:
        """The baseline that a command says, else what `find` finds; None where none is to be used.

        Raises as `read` does.
        """
        if not options.use_baseline:
            return None
        if options.baseline is None:
            return cls.find(root, named)
        return cls.read(options.baseline, str(options.baseline), Boundary(root).of_named(options.baseline))

    @classmethod
    def find(cls, root: Path, named: str | None) -> Baseline | None:
        """The baseline that the settings name; else the usual one in `root`, where it is. Raises as `read` does."""
        if named is None and not os.path.lexists(root / DEFAULT):
            return None
        return cls.read(root / (named or DEFAULT), named or DEFAULT, Boundary(root))

    @classmethod
    def parse(cls, source: SourceText) -> Baseline:
        """Reads the text of a baseline; raises ProblemsError."""
        try:
            data = json.loads(source.text)
        except json.JSONDecodeError as error:
            raise _bad(source, f"not JSON: {error.msg}", error.pos) from None
        except (ValueError, RecursionError):
            raise _bad(source, "not a baseline") from None
        if not isinstance(data, dict) or "version" not in data:
            raise _bad(source, "not a baseline: it says no version")
        if data["version"] != VERSION or isinstance(data["version"], bool):
            raise _bad(source, f"the baseline is of another version than {VERSION}", source.text.find('"version"'))
        return cls(tuple(sorted(_entries(source, data.get("findings")))))

    def write(self, file: Path) -> None:
        """Writes the baseline, whole or not at all. Raises OSError."""
        write_atomic(file, self.text)

    @property
    def text(self) -> str:
        """The content of the file: sorted, with a line for each entry, so that a difference shows what changed."""
        files: dict[str, dict[str, list[str]]] = {}
        for entry in sorted(self.entries):
            line = _json({"key": entry.key, "count": entry.count, "text": entry.text})
            files.setdefault(entry.path, {}).setdefault(entry.code, []).append(f"        {line}")
        blocks = []
        for path, codes in files.items():
            lists = (f"      {_json(code)}: [\n{_lines(lines)}\n      ]" for code, lines in codes.items())
            blocks.append(f"    {_json(path)}: {{\n{_lines(lists)}\n    }}")
        findings = f"{{\n{_lines(blocks)}\n  }}" if blocks else "{}"
        return f'{{\n  "version": {VERSION},\n  "findings": {findings}\n}}\n'

    def hide(
        self, findings: Iterable[Finding], looked_at: Callable[[str, str], bool] = lambda _path, _code: True
    ) -> BaselineResult:
        """Takes out the findings that were there before: of equal ones as many as there were then, the rest is new.

        An entry that matches nothing is stale, if `looked_at` says that this run looked at its path for its code.
        """
        left: Counter[str] = Counter()
        for entry in self.entries:
            left[entry.key] += entry.count
        visible = []
        hidden = 0
        for finding in findings:
            key = finding.key
            if left[key] > 0:
                left[key] -= 1
                hidden += 1
            else:
                visible.append(finding)
        stale = {entry.key for entry in self.entries if looked_at(entry.path, entry.code)}
        return BaselineResult(tuple(visible), hidden, sum(left[key] for key in stale))


def _entries(source: SourceText, files: Any) -> Iterable[Entry]:
    for path, codes in _mapping(source, files, "findings").items():
        for code, entries in _mapping(source, codes, path).items():
            if not isinstance(entries, list):
                raise _misshapen(source, code, "a list")
            for entry in entries:
                match _mapping(source, entry, code):
                    case {"key": str(key), "count": int(count), "text": str(text)} if count > 0 and count is not True:
                        yield Entry(path, code, text, key, count)
                    case _:
                        raise _misshapen(source, code, 'a list of {"key": text, "count": number, "text": text}')


def _mapping(source: SourceText, value: Any, under: str) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    raise _misshapen(source, under, "a mapping")


def _misshapen(source: SourceText, key: str, shape: str) -> ProblemsError:
    return _bad(source, f'not a baseline: "{key}" must hold {shape}', source.text.find(_json(key)))


def _bad(source: SourceText, message: str, at: int = 0) -> ProblemsError:
    problems = Problems()
    hint = "write it again with `merge-runner lint --write-baseline`"
    problems.add("bad-baseline", message, source.place(max(at, 0)), hint)
    return ProblemsError(problems)


def _text(finding: Finding) -> str:
    text = " ".join((finding.subject or finding.message).split())
    text = text.encode("utf-8", "replace").decode()  # an escape in YAML can be half a character
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _lines(parts: Iterable[str]) -> str:
    return ",\n".join(parts)
