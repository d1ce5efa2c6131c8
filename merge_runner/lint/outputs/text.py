"""For people: what is wrong with an excerpt of the file, why, and what to do; then every verdict, then the counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import unified_diff

from merge_runner.columns import cut, one_line, padded, width
from merge_runner.lint.finding import Finding, Fix
from merge_runner.lint.fixes import apply
from merge_runner.lint.outputs.excerpt import excerpt, gutter
from merge_runner.lint.outputs.not_judged import lines
from merge_runner.lint.outputs.statistics import COLOURS, table
from merge_runner.lint.outputs.style import Style
from merge_runner.lint.outputs.summary import summary
from merge_runner.lint.outputs.verdicts import by_place, proof, proofs, scan, verdict_lines
from merge_runner.lint.report import Report, ReportedMerge
from merge_runner.text import Place, SourceText

_HEAD = "P001"
"""The rule whose finding, or what takes its place, has the proof of the verdict below it."""
_MANY = 30
"""With more findings than this the counts by rule come in any case: the first ones have scrolled away then."""

_KNOWN = (
    "--layout FILE, or CREATE TABLE in the same files, has the layouts of tables: -v shows each merge with its proof"
)
_CHANGED = 12
"""How many lines of a fix are shown."""


_HANGING = 4
"""How much further the later lines of a long text are indented than its first."""


def render(report: Report, style: Style) -> str:
    """Blocks of findings, verdicts, counts and the summary, a blank line between them."""
    parts = list(_blocks(report, style))
    parts.append(list(proofs(report, style) if style.verbose else verdict_lines(report, style)))
    if style.statistics or len(report.findings) > _MANY:
        parts.append(list(table(report, style)))
    parts.append(list(lines(report, style)))
    if report.findings:
        parts.append([style.styled(f"What a rule means: merge-runner rule {report.findings[0].code}", dim=True)])
    parts.append([_summary(report, style)])
    return "\n\n".join("\n".join(part) for part in parts if part)


def _summary(report: Report, style: Style) -> str:
    warns = report.count("warning") or report.not_judged
    fg = "red" if report.count("error") else "yellow" if warns else "green"
    return "\n".join(style.styled(line, fg=fg, bold=True) for line in style.lines(summary(report)))


def _blocks(report: Report, style: Style) -> Iterator[list[str]]:
    merges = by_place(report.merges)
    grouped = [finding for finding in report.findings if _of_unknown_layout(finding)]
    grouped = grouped if len(grouped) > 1 else []
    for findings in _groups(finding for finding in report.findings if not (grouped and _of_unknown_layout(finding))):
        first = findings[0].place
        source = SourceText(first.path, report.sources.get(first.text_name, ""))
        head = next((finding for finding in findings if _HEAD in finding.codes), None)
        related = [finding for finding in findings if head and finding is not head and finding.code[:1] in "PK"]
        if head is not None:
            block = list(_finding(head, source, style, merges.get(head.merge or first.path)))
            inner = replace(style, width=style.width - 2)
            for finding in related:
                block += ["", *(f"  {line}".rstrip() for line in _finding(finding, source, inner))]
            yield block
        for finding in findings:
            if finding is not head and finding not in related:
                yield list(_finding(finding, source, style))
    if grouped:
        yield list(_group(grouped, style))


def _of_unknown_layout(finding: Finding) -> bool:
    """Whether it is a scan in a plain file, of a table whose layout shows nothing that the author has missed."""
    return finding.code == _HEAD and finding.severity == "warning" and finding.model is None


def _group(findings: Sequence[Finding], style: Style) -> Iterator[str]:
    """A line for each: its place, and what ON joins by."""
    first = findings[0]
    severity = style.styled(f"{first.severity}[{first.code}]", fg=COLOURS[first.severity], bold=True)
    name = style.styled(f"{first.name}:", bold=True)
    yield from style.lines(
        f"{severity} {name} {len(findings)} merges scan a whole target of which no better layout is known", _HANGING
    )
    places = [one_line(str(finding.place)) for finding in findings]
    longest = max(map(width, places))
    for place, finding in zip(places, findings, strict=True):
        on = cut(one_line(finding.subject), max(style.width - longest - 4, _HANGING), style.ellipsis)
        yield f"  {padded(place, longest)}  {style.styled(on, dim=True)}"
    help_ = style.styled("help:", fg="cyan", bold=True)
    yield from style.lines(f"  = {help_} {one_line((first.hint or '').splitlines()[0])}", _HANGING)
    yield from style.lines(f"  = {help_} {_KNOWN}", _HANGING)


def _groups(findings: Iterable[Finding]) -> Iterator[list[Finding]]:
    """The findings of each file or cell; where it has several MERGEs, those of each by themselves."""
    texts: dict[str, dict[Place | None, list[Finding]]] = {}
    for finding in findings:
        texts.setdefault(finding.place.text_name, {}).setdefault(finding.merge, []).append(finding)
    for by_merge in texts.values():
        if len(by_merge.keys() - {None}) > 1:
            yield from by_merge.values()
        else:
            joined = (finding for of_merge in by_merge.values() for finding in of_merge)
            yield sorted(joined, key=lambda finding: (finding.place.line, finding.place.column, finding.code))


def _finding(finding: Finding, source: SourceText, style: Style, merge: ReportedMerge | None = None) -> Iterator[str]:
    fg = COLOURS[finding.severity]
    severity = style.styled(f"{finding.severity}[{finding.code}]", fg=fg, bold=True)
    name = style.styled(f"{finding.name}:", bold=True)
    yield from style.lines(f"{one_line(str(finding.place))} {severity} {name} {one_line(finding.message)}", _HANGING)
    yield from excerpt(source.text, finding.place, style, fg)
    note = " " * gutter(finding.place) + " = "
    if merge is not None:
        yield from style.lines(note + scan(merge, style), _HANGING)
        yield from (f"{' ' * len(note)}{line}" for line in proof(merge, replace(style, width=style.width - len(note))))
    if finding.hint:
        first, *more = [one_line(line) for line in finding.hint.strip().splitlines()] or [""]
        indent = len(note) + len("help: ")
        help_ = f"{note}{style.styled('help:', fg='cyan', bold=True)} {first}"
        yield from style.lines(help_, indent - gutter(finding.place) - 1)
        for line in more:
            yield from style.lines(" " * indent + line)
    if finding.fix:
        yield from _fix(finding.fix, source, style, note)


def _fix(fix: Fix, source: SourceText, style: Style, note: str) -> Iterator[str]:
    head = f"{note}{style.styled(f'fix ({fix.applicability}):', fg='green', bold=True)} {one_line(fix.message)}"
    yield from style.lines(head, _HANGING)
    lines = list(changed_lines(source, fix)) if source.text else []
    indent = " " * len(note)
    for line in lines[:_CHANGED]:
        shown = cut(f"{line[0]} {line[1:]}".rstrip(), max(style.width - len(note), 20), style.ellipsis)
        yield indent + style.styled(shown, fg="red" if line[0] == "-" else "green")
    if len(lines) > _CHANGED:
        yield f"{indent}{style.ellipsis} {len(lines) - _CHANGED} more"


def changed_lines(source: SourceText, fix: Fix) -> Iterator[str]:
    """The lines that change, `-` or `+` in front, without the ones around them; none where it cannot be applied."""
    fixed = apply(source, [fix], unsafe=True).text
    for number, line in enumerate(unified_diff(source.text.split("\n"), fixed.split("\n"), n=0, lineterm="")):
        if number > 1 and not line.startswith("@@"):
            yield line
