"""The `merge-runner …` command lines in Markdown: in code blocks, and in code within a sentence."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CLUSTER = "# needs a cluster"
"""The comment that marks a command line which no single machine can run."""
PAGES = [
    *(
        ROOT / name
        for name in ("README.md", "CONTRIBUTING.md", "examples/README.md", "docs/index.md", "docs/glossary.md")
    ),
    *sorted(ROOT.glob("examples/*/README.md")),
    *(
        page
        for kind in ("getting-started", "guides", "concepts")
        for page in sorted((ROOT / "docs" / kind).glob("*.md"))
    ),
]
_BLOCK = re.compile(
    r"^(?P<indent> *)(?P<fence>```+|~~~+)(?P<language>\w*)[^\n]*\n(?P<code>.*?)^(?P=indent)(?P=fence) *$", re.M | re.S
)
_SPAN = re.compile(r"(?<!`)(?P<ticks>`{1,2})(?!`)(?P<code>[^`]+)(?P=ticks)(?!`)")
_NOT_SHELL = {"sql", "toml", "json", "python"}


@dataclass(frozen=True)
class CommandLine:
    """A command line at its place; `args` are the words after `merge-runner`."""

    page: Path
    line: int
    args: tuple[str, ...]
    marked: bool
    whole: bool
    """A whole line of a code block, not a mention in a sentence."""

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}: merge-runner {shlex.join(self.args)}"


def command_lines(page: Path) -> Iterator[CommandLine]:
    """Return every command line of a page, in no particular order."""
    text = page.read_text(encoding="utf-8")
    prose = text
    for block in _BLOCK.finditer(text):
        prose = prose.replace(block[0], re.sub(r"[^\n]", " ", block[0]), 1)
        if block["language"] not in _NOT_SHELL:
            yield from _of_code(
                page, text.count("\n", 0, block.start("code")) + 1, block["code"], shown=block["language"] == "console"
            )
    for number, line in enumerate(prose.split("\n"), 1):
        if line.startswith("    ") and re.search(r"(^|[;&|$] *)merge-runner ", line.strip()):
            yield from _of_code(page, number, line, shown=False)
    for span in _SPAN.finditer(prose):
        words = " ".join(span["code"].split())
        if re.search(r"(^|&& )merge-runner ", words):
            yield from _of_code(page, prose.count("\n", 0, span.start()) + 1, words, shown=False, whole=False)


def _of_code(page: Path, first: int, code: str, *, shown: bool, whole: bool = True) -> Iterator[CommandLine]:
    """Return the command lines of some code; where a session is shown, only lines after a prompt are commands."""
    for number, line in enumerate(code.split("\n"), first):
        text = line.strip()
        if "merge-runner " not in text or (shown and not text.startswith("$ ")):
            continue
        text = re.sub(r"^(\$ |- run: |- |\| )", "", text)
        text = re.sub(r"\$\{\{.*?\}\}", "X", text).replace(r"\|", "|")
        for words in commands(text):
            if words[:1] == ["merge-runner"] and len(words) > 1:
                yield CommandLine(page, number, tuple(words[1:]), CLUSTER in line, whole)


def commands(text: str) -> Iterator[list[str]]:
    """Return the simple commands of a shell line as words; comments are left out."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|<>")
    lexer.whitespace_split = True
    words: list[str] = []
    try:
        for word in lexer:
            if set(word) <= set(";&|<>"):
                yield words
                words = []
            elif word not in ("do", "then"):
                words.append(word)
    except ValueError:
        return
    yield words
