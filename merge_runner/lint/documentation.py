"""The documentation of the rules, made of their docstrings: pages, texts for a terminal, examples.

`python -m tools.docgen` writes the pages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from textwrap import fill
from typing import Literal, get_args, get_type_hints

from merge_runner.lint.rule import Rule, RuleOptions
from merge_runner.lint.suppress.noqa import UNUSED
from merge_runner.project.syntax.annotations import written_as

SECTIONS = ("What it does", "Why it matters", "Bad", "Good", "When to ignore it")


@dataclass(frozen=True)
class Example:
    """A model of a section Bad or Good; `yaml` is the block next to it with its surroundings, if there is one."""

    kind: Literal["bad", "good"]
    sql: str
    yaml: str | None = None


@dataclass(frozen=True)
class _Block:
    """A code block in fences."""

    language: str
    code: str


def summary(rule: Rule) -> str:
    """The first line of the documentation: what is wrong, in a sentence."""
    return rule.documentation.strip().partition("\n")[0].strip()


def sections(rule: Rule) -> dict[str, str]:
    """The Markdown of each section by its title, in order."""
    by_title: dict[str, list[str]] = {}
    title = ""
    for line, fenced in _lines(rule.documentation):
        if line.startswith("## ") and not fenced:
            title = line[3:].strip()
            by_title.setdefault(title, [])
        elif title:
            by_title[title].append(line)
    return {title: "\n".join(lines).strip("\n") for title, lines in by_title.items()}


def examples(rule: Rule) -> list[Example]:
    """The models of the sections Bad and Good.

    A ```yaml block goes with the ```sql block after it where the section begins with one, else with that before it.
    """
    models = []
    by_title = sections(rule)
    kinds: tuple[Literal["bad", "good"], ...] = ("bad", "good")
    for kind in kinds:
        blocks = [block for block in _blocks(by_title.get(kind.title(), "")) if block.language in ("sql", "yaml")]
        before = bool(blocks) and blocks[0].language == "yaml"
        for at, block in enumerate(blocks):
            if block.language == "sql":
                neighbour = at - 1 if before else at + 1
                paired = 0 <= neighbour < len(blocks) and blocks[neighbour].language == "yaml"
                models.append(Example(kind, block.code, blocks[neighbour].code if paired else None))
    return models


def check(rule: Rule) -> list[str]:
    """What is missing in the documentation of a rule."""
    wrong = []
    if not re.fullmatch(r"\S[^\n]*\.", rule.documentation.partition("\n")[0]):
        wrong.append("the first line is no sentence")
    by_title = sections(rule)
    if tuple(by_title) != SECTIONS:
        wrong.append(f"the sections are {', '.join(by_title) or 'none'}, not {', '.join(SECTIONS)}")
    wrong += [f"{title} is empty" for title, text in by_title.items() if not text.strip()]
    kinds = {example.kind for example in examples(rule)}
    wrong += [f"{kind.title()} has no ```sql block" for kind in ("bad", "good") if kind not in kinds]
    if any(fenced for _, fenced in list(_lines(f"{rule.documentation}\n\n"))[-1:]):
        wrong.append("a code block has no end")
    return wrong


def page(rule: Rule) -> str:
    """The Markdown page of a rule."""
    by_title = _page_sections(rule)
    parts = [
        "<!-- Made of the rule's docstring; do not edit. -->",
        f"# {rule.code}: {rule.name}",
        f"Default severity: **{rule.severity}**",
        _introduction(rule),
        *(f"## {title}\n\n{body}" for title, body in by_title.items()),
    ]
    return "\n\n".join(parts) + "\n"


def index(all_rules: Sequence[Rule]) -> str:
    """The Markdown page that lists the rules."""
    rows = (
        f"| [{rule.code}]({rule.code}.md) | {rule.name} | {rule.severity} | {summary(rule).replace('|', '&#124;')} |"
        for rule in all_rules
    )
    return "\n".join(
        [
            "<!-- Made of the rules' docstrings; do not edit. -->",
            "",
            "# Rules",
            "",
            "`merge-runner rule CODE` shows the same in a terminal. The target of the examples has the columns id, dt,",
            "region, ts, amount, name and flag and is partitioned by dt; the source `raw.s` has the same columns.",
            "",
            "| code | name | default | what is wrong |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def text(rule: Rule) -> str:
    """The documentation for a terminal: code is indented, Markdown's marks of headings and code are gone."""
    by_title = _page_sections(rule)
    parts = [f"{rule.code} {rule.name} ({rule.severity})", _introduction(rule)]
    for title, body in by_title.items():
        lines = []
        for line, fenced in _lines(body):
            if not fenced:
                lines.append(line)
            elif not _FENCE.match(line):
                lines.append(f"    {line}".rstrip())
        parts += [title, "\n".join(lines)]
    return "\n\n".join(parts)


def pages(all_rules: Sequence[Rule]) -> dict[str, str]:
    """All pages by the names of their files."""
    return {"README.md": index(all_rules), **{f"{rule.code}.md": page(rule) for rule in all_rules}}


_FENCE = re.compile(r"\s*(`{3,}|~{3,})\s*(\w*)")


def _lines(markdown: str) -> Iterator[tuple[str, bool]]:
    """The lines, each with whether it is part of a code block, its fences among them."""
    fence_open = ""
    for line in markdown.splitlines():
        fence = _FENCE.match(line)
        if fence_open:
            yield line, True
            if fence and fence[1].startswith(fence_open) and not fence[2]:
                fence_open = ""
        else:
            fence_open = fence[1] if fence else ""
            yield line, bool(fence_open)


def _blocks(markdown: str) -> Iterator[_Block]:
    language = ""
    code: list[str] | None = None
    for line, fenced in _lines(markdown):
        fence = _FENCE.match(line) if fenced else None
        if code is None and fence:
            language, code = fence[2].lower(), []
        elif code is not None and fence and not fence[2]:
            yield _Block(language, "\n".join([*code, ""]))
            code = None
        elif code is not None:
            code.append(line)


def _page_sections(rule: Rule) -> dict[str, str]:
    """The sections of the docstring, the options, and how to configure the rule."""
    options = {"Options": _options(rule.code, rule.options)} if rule.options is not None else {}
    return {**sections(rule), **options, "How to configure it": _configuration(rule)}


def _introduction(rule: Rule) -> str:
    """What precedes the first section."""
    return re.split(r"^## ", rule.documentation, maxsplit=1, flags=re.M)[0].strip()


def _options(code: str, options: type[RuleOptions]) -> str:
    """The options of a rule: its table with the defaults, and what each means."""
    hints = get_type_hints(options, include_extras=True)
    lines, meanings = [], []
    for name, default in asdict(options()).items():
        key = written_as(name, hints[name])[0]
        # A `Key`, or pydantic's `Field` of a rule of another package.
        info = next((metadata for metadata in get_args(hints[name])[1:] if hasattr(metadata, "description")), None)
        description = info.description if info is not None else None
        example = f" Example: `{key} = {json.dumps(info.examples[0])}`" if info is not None and info.examples else ""
        lines.append(f"{key} = {json.dumps(default)}")
        meaning = f"- `{key}`: {description or name.replace('_', ' ')}{example}"
        meanings.append(fill(meaning, 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False))
    table = ["```toml", f"[tool.merge-runner.lint.rules.{code}]", *lines, "```"]
    return "\n".join([f"{options.__doc__} The defaults:", "", *table, "", *meanings])


def _configuration(rule: Rule) -> str:
    severity = "error" if rule.severity != "error" else "warning"
    settings = [
        "[tool.merge-runner.lint]",
        f'ignore = ["{rule.code}"]',
        f'per-path-ignores = {{ "models/staging/**" = ["{rule.code}"] }}',
        f'severity = {{ {rule.code} = "{severity}" }}',
    ]
    if rule.code == UNUSED:
        comments = ["No comment hides it."]
    else:
        line, file = (f"`-- {scope}noqa: {rule.code} -- reason`" for scope in ("", "merge-runner: "))
        comments = [f"{line} hides it on a line,", f"{file} in a file."]
    return "\n".join([*comments, "In `pyproject.toml`, any of:", "", "```toml", *settings, "```"])
