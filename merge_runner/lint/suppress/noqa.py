"""Comments that hide findings: `-- noqa: P001 -- reason` for a line, `-- merge-runner: noqa: P001` for a file.

A comment counts for the findings that begin or end on one of its lines; alone on its line, for those too that reach
over it. One that hides a finding about a scan (P001) hides the one that says its cause (P002), but none about rows.
It names codes, names or beginnings of codes; without a colon it hides all. It is read from the author's text, in
comments of SQL and of Jinja, and after `#` in YAML and TOML.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TypeAlias

from merge_runner.lint.finding import Edit, Finding, Fix, Severity
from merge_runner.lint.rule import Rule
from merge_runner.lint.selector import match_rules, suggestion
from merge_runner.lint.suppress.comments import Comment, after_space, comments
from merge_runner.text import Place, SourceText, Span

UNUSED = "S001"
"""The rule that looks at the comments themselves; only settings turn it off."""

Used: TypeAlias = frozenset[tuple[int, int]]
"""Which words have hidden a finding: the comment's number, and the word's in it."""


_OF_SCANS = ("P", "K")
"""How the codes of rules about scans begin."""


@dataclass(frozen=True)
class _Word:
    """A word after the colon. `foreign`: it is SQLFluff's, which reads the same comments."""

    text: str
    span: Span
    rules: tuple[Rule, ...]
    foreign: bool = False


@dataclass(frozen=True)
class _Noqa:
    """What a comment says. `words` None: everything is hidden; `fault`: why it hides nothing.

    `span` is from where it begins in the comment to the comment's end, `lines` the first and last of the comment.
    """

    comment: Comment
    span: Span
    lines: tuple[int, int]
    alone: bool
    whole_file: bool
    words: tuple[_Word, ...] | None = ()
    fault: str | None = None

    def hidden_by(self, code: str) -> int | None:
        """The number of the word that hides findings of the rule; None where none does."""
        if code == UNUSED or self.fault:
            return None
        if self.words is None:
            return 0
        for number, word in enumerate(self.words):
            if any(rule.code == code for rule in word.rules):
                return number
        return None


@dataclass(frozen=True)
class Suppressions:
    """The suppressing comments of a file."""

    source: SourceText
    rules: tuple[Rule, ...]
    noqas: tuple[_Noqa, ...] = ()

    @classmethod
    def read(cls, source: SourceText, rules: Iterable[Rule], embedded: Iterable[Comment] = ()) -> Suppressions:
        """Read the author's text of a file or cell; `rules` are all the rules that there are.

        `embedded` are the comments of SQL in another language, with spans in the text.
        """
        rules = tuple(rules)
        if _KEYWORD.search(source.text) is None:
            return cls(source, rules)
        noqas = (_noqa(comment, source, rules) for comment in dict.fromkeys((*comments(source), *embedded)))
        return cls(source, rules, tuple(noqa for noqa in noqas if noqa is not None))

    def filter(self, findings: Iterable[Finding]) -> tuple[list[Finding], Used]:
        """The findings that no comment hides, and what was used to hide the others.

        Findings in other files are kept. A comment for the line comes before one for the file.
        """
        visible = []
        used = set()
        for finding in findings:
            use = self._use(finding) if finding.place.path == self.source.path else None
            if use is None:
                visible.append(finding)
            else:
                used.add(use)
        return visible, frozenset(used)

    def unused(
        self,
        used: Used,
        severity: Callable[[Rule, str], Severity | None],
        *,
        ran: Callable[[Rule], bool] = lambda _: True,
        model: str | None = None,
    ) -> list[Finding]:
        """The findings of S001: comments and words that hide nothing, mean no rule or cannot be read.

        A word counts as unused only where all its rules are selected (`severity` is not None) and have looked at the
        file (`ran`), and never in a Jinja block that need not be rendered.
        """
        if not self.noqas:
            return []
        path = self.source.path
        rule = next((rule for rule in self.rules if rule.code == UNUSED), None)
        level = severity(rule, path) if rule else None
        if rule is None or level is None:
            return []

        def is_judged(rules: Iterable[Rule]) -> bool:
            return all(severity(rule, path) is not None and ran(rule) for rule in rules if rule.code != UNUSED)

        def finding(message: str, span: Span, hint: str | None, fix: Fix | None = None) -> Finding:
            place = self.source.place(span.start, span.end)
            subject = span.of(self.source.text)
            return Finding(UNUSED, rule.name, level, message, place, model, hint, fix, subject)

        findings: list[Finding] = []
        all_judged = is_judged(self.rules)
        for number, noqa in enumerate(self.noqas):
            if noqa.fault:
                findings.append(finding(noqa.fault, noqa.span, "write `noqa`, or `noqa: P001, C003 -- reason`"))
            elif noqa.words is None:
                if (number, 0) not in used and all_judged and not noqa.comment.conditional:
                    hint, fix = "remove it", self._fix(noqa, ())
                    findings.append(finding("the noqa hides nothing", noqa.span, hint, fix))
            else:
                findings += (finding(*parts) for parts in self._faulty(noqa))
                idle = {
                    at
                    for at, word in enumerate(noqa.words)
                    if (number, at) not in used and _can_hide(word) and is_judged(word.rules)
                }
                if idle and not noqa.comment.conditional:
                    message = f"the noqa for {', '.join(noqa.words[at].text for at in sorted(idle))} hides nothing"
                    fix = self._fix(noqa, [word for at, word in enumerate(noqa.words) if at not in idle])
                    findings.append(finding(message, noqa.span, "remove it", fix))
        return findings

    def _faulty(self, noqa: _Noqa) -> Iterator[tuple[str, Span, str]]:
        for word in noqa.words or ():
            if not word.rules and not word.foreign:
                yield f'there is no rule "{word.text}"', word.span, suggestion(word.text, self.rules)
            elif word.rules and not _can_hide(word):
                hint = f'put `ignore = ["{UNUSED}"]` under [tool.merge-runner.lint] in pyproject.toml'
                yield f"no comment hides {UNUSED}", word.span, hint

    def _use(self, finding: Finding) -> tuple[int, int] | None:
        for code, place in (
            (finding.code, finding.place),
            *(finding.replaced if finding.code.startswith(_OF_SCANS) else ()),
        ):
            for number in (*self._numbers_at(*_lines(place)), *self._whole_file):
                word = self.noqas[number].hidden_by(code)
                if word is not None:
                    return number, word
        return None

    def _numbers_at(self, first: int, last: int) -> Sequence[int]:
        """The numbers of the comments that count for findings from line `first` to line `last`."""
        numbers = [*self._by_line.get(first, ()), *self._by_line.get(last, ())]
        lines, alone = self._alone
        numbers += alone[bisect_left(lines, first) : bisect_right(lines, last)]
        return numbers

    @cached_property
    def _by_line(self) -> dict[int, list[int]]:
        numbers: dict[int, list[int]] = {}
        for number, noqa in enumerate(self.noqas):
            if not noqa.whole_file:
                for line in range(noqa.lines[0], noqa.lines[1] + 1):
                    numbers.setdefault(line, []).append(number)
        return numbers

    @cached_property
    def _alone(self) -> tuple[list[int], list[int]]:
        """The first lines and the numbers of the comments that are alone on their lines."""
        lines = [(noqa.lines[0], number) for number, noqa in enumerate(self.noqas) if noqa.alone]
        lines = [(line, number) for line, number in lines if not self.noqas[number].whole_file]
        return [line for line, _ in lines], [number for _, number in lines]

    @cached_property
    def _whole_file(self) -> tuple[int, ...]:
        return tuple(number for number, noqa in enumerate(self.noqas) if noqa.whole_file)

    def _fix(self, noqa: _Noqa, keep: Sequence[_Word]) -> Fix:
        """Removes the words that are not kept, or the whole comment where none is."""
        if keep and noqa.words:
            span = Span(noqa.words[0].span.start, noqa.words[-1].span.end)
            edit = Edit(self.source.place(span.start, span.end), ", ".join(word.text for word in keep))
            return Fix("remove what hides nothing", (edit,), "safe")
        span, content = _removal(noqa, self.source.text)
        edit = Edit(self.source.place(span.start, span.end), content)
        doubtful = noqa.comment.trims or noqa.comment.has_tags or _is_trimmed(span, self.source.text)
        return Fix("remove the comment", (edit,), "unsafe" if doubtful else "safe")


_KEYWORD = re.compile("noqa", re.IGNORECASE)
_MARKS = {"line": r"\A|--", "hash": r"\A|#", "code": r"\A|#|//", "block": r"\A", "jinja": r"\A"}
"""What precedes the word, by the kind of the comment."""
_END = re.compile(r"[ \t\r]*(?:\Z|\n|--|#)")
_NAME = re.compile(r"[A-Za-z][\w.]*(?:-\w+)*(?:=\w+)?")
_FOREIGN = re.compile(
    r"(?:AL|AM|CP|CV|JJ|LT|OR|RF|ST|TQ)\d{2}|L\d{3}|PRS|TMP|LXR|[a-z_]+\.[a-z_.]+|(?:disable|enable)=\w+",
    re.IGNORECASE,
)


@cache
def _beginning(kind: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{_MARKS[kind]})\s*(merge-runner\s*:\s*)?noqa(?!\w|-(?!-))[ \t]*(:)?", re.IGNORECASE)


def _noqa(comment: Comment, source: SourceText, rules: tuple[Rule, ...]) -> _Noqa | None:
    begin = _beginning(comment.kind).search(comment.text)
    if begin is None:
        return None
    span = comment.span
    if comment.text[: begin.start()].strip():
        span = Span(comment.body.start + begin.start(), comment.body.end)
    first = source.place(comment.span.start if comment.counts_from is None else comment.counts_from).line
    last = source.place(max(comment.span.start, comment.span.end - 1)).line
    before, after = _around(comment.span, source.text)
    words: tuple[_Word, ...] | None = None
    fault = None
    if begin[2]:
        words = tuple(_words(comment, begin.end(), rules))
        fault = None if words else "the noqa names no rule after its colon"
    if comment.kind == "code":  # other linters of Python read such comments, too
        if not begin[2] and not _END.match(comment.text, begin.end()):
            return None
        words = None if words is None else tuple(_exact(word) for word in words)
        fault = None
    elif not begin[2] and not _END.match(comment.text, begin.end()):
        fault = "the noqa hides nothing, for there is text after it without a colon"
    return _Noqa(comment, span, (first, last), not (before or after), bool(begin[1]), words, fault)


def _words(comment: Comment, at: int, rules: tuple[Rule, ...]) -> Iterator[_Word]:
    """The words from offset `at` of the comment's text on, up to what is not one.

    They are parted by commas; without one, what follows is taken as a word only where it is a rule's code or name.
    """
    text = comment.text
    exact = {key for rule in rules for key in (rule.code.lower(), rule.name)}
    comma = True
    while word := _NAME.match(text, after_space(text, at)):
        if not comma and word[0].lower() not in exact:
            return
        start = comment.body.start + word.start()
        matches = match_rules(word[0], rules)
        yield _Word(
            word[0], Span(start, start + len(word[0])), matches, not matches and bool(_FOREIGN.fullmatch(word[0]))
        )
        at = after_space(text, word.end())
        comma = text.startswith(",", at)
        at += comma


def _exact(word: _Word) -> _Word:
    """The word as one of another linter where it is not a code or a name of a rule."""
    own = any(word.text.upper() == rule.code or word.text.lower() == rule.name for rule in word.rules)
    return word if own else replace(word, rules=(), foreign=True)


def _can_hide(word: _Word) -> bool:
    return any(rule.code != UNUSED for rule in word.rules)


def _lines(place: Place) -> tuple[int, int]:
    """The first and the last line that a place has a character on."""
    last = place.end_line if place.end_line is not None else place.line
    if place.end_column == 1 and last > place.line:
        last -= 1
    return place.line, last


def _around(span: Span, text: str) -> tuple[str, str]:
    """What precedes the span on its first line and follows it on its last, without the blanks at the ends."""
    end = text.find("\n", span.end)
    line = text.rfind("\n", 0, span.start) + 1
    return text[line : span.start].strip(), text[span.end : end if end >= 0 else len(text)].strip()


def _removal(noqa: _Noqa, text: str) -> tuple[Span, str]:
    """What to take out so that the comment is gone and the statement is the same, and what to put there."""
    comment, start, end = noqa.comment, noqa.span.start, noqa.span.end
    if start != comment.span.start:  # there is another text before it in the comment
        least = comment.body.start
        # At the end of the line, a backslash would take the next line into the comment.
        return Span(least + len(text[least:start].rstrip().rstrip("\\ \t")), end), ""
    before, after = _around(comment.span, text)
    line = text.rfind("\n", 0, start) + 1
    newline = text.find("\n", end)
    if comment.inside or after:
        return noqa.span, _in_place(comment, text)
    if before:
        return Span(line + len(text[line:start].rstrip()), newline if newline >= 0 else len(text)), ""
    return (Span(line, newline + 1) if newline >= 0 else Span(max(line - 1, 0), len(text))), ""


_TRIM = re.compile(r"\s*\{[{%#]-")


def _is_trimmed(span: Span, text: str) -> bool:
    """Whether a tag next to the span takes blanks away, so that words may meet when the span is gone."""
    start = span.start
    while start and text[start - 1].isspace():
        start -= 1
    return text.endswith(("-}}", "-%}", "-#}"), 0, start) or _TRIM.match(text, span.end) is not None


def _in_place(comment: Comment, text: str) -> str:
    """What keeps the words around a comment apart: those around one of SQL are, those around one of Jinja are not."""
    around = text[max(comment.span.start - 1, 0) : comment.span.start] + text[comment.span.end : comment.span.end + 1]
    return " " if comment.kind == "block" and around.strip() == around and len(around) > 1 else ""
