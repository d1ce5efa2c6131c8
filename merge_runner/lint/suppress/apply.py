"""From what the rules found to the report: comments and the baseline hide, unused comments are findings themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from merge_runner.lint.finding import Finding
from merge_runner.lint.registry import rules
from merge_runner.lint.report import JudgementGap, Report, ReportedMerge
from merge_runner.lint.rule import Rule
from merge_runner.lint.selection import RuleSelection
from merge_runner.lint.suppress.baseline import Baseline
from merge_runner.lint.suppress.comments import Comment
from merge_runner.lint.suppress.noqa import Suppressions
from merge_runner.template.redact import redact
from merge_runner.text import SourceText


def finish(
    findings: Iterable[Finding],
    merges: Sequence[ReportedMerge],
    texts: Mapping[str, SourceText],
    selection: RuleSelection,
    baseline: Baseline | None,
    *,
    secrets: AbstractSet[str],
    files: int,
    models: Mapping[str, str],
    ran: Callable[[str, Rule], bool],
    not_judged: Sequence[JudgementGap] = (),
    embedded: Mapping[str, Sequence[Comment]] = MappingProxyType({}),
) -> Report:
    """Return the report of a run, without the secrets.

    `texts` are the files and cells that were looked at, or that a finding is in, by SourceText.name; `models` the names
    of the models by the paths of their files; `ran` says whether a file or cell was looked at by a rule. `embedded`
    are the comments of SQL in other languages, by the name of the text.
    """
    by_text: dict[str, list[Finding]] = {name: [] for name in texts}
    if secrets:
        findings = [_without_secrets(finding, secrets) for finding in findings]
        merges = [_merge_without_secrets(merge, secrets) for merge in merges]
    for finding in dict.fromkeys(findings):
        finding_of_model = finding if finding.model else replace(finding, model=models.get(finding.place.path))
        by_text.setdefault(finding.place.text_name, []).append(finding_of_model)
    visible: list[Finding] = []
    for name, in_text in by_text.items():
        source = texts.get(name)
        if source is None:
            visible += in_text
            continue
        if not in_text and not embedded.get(name) and "noqa" not in source.text.lower():
            continue  # most files: nothing hides a finding, and there is none
        suppressions = Suppressions.read(source, rules(), embedded.get(name, ()))
        shown, used = suppressions.filter(in_text)
        visible += shown
        visible += suppressions.unused(used, selection.severity, ran=partial(ran, name), model=models.get(source.path))
    visible.sort(key=_order)
    hidden = stale = 0
    if baseline is not None:
        by_code = {rule.code: rule for rule in rules()}
        names: dict[str, list[str]] = {}
        for name, source in texts.items():
            names.setdefault(source.path, []).append(name)

        def looked_at(path: str, code: str) -> bool:
            rule = by_code.get(code)
            if rule is None or path not in names:
                return False
            return any(ran(name, rule) for name in names[path]) and selection.severity(rule, path) is not None

        left = baseline.hide(visible, looked_at)
        visible, hidden, stale = list(left.visible), left.hidden, left.stale
    places = {finding.place.text_name for finding in visible}
    return Report(
        merges=tuple(sorted(merges, key=_merge_order)),
        findings=tuple(visible),
        files=files,
        hidden=hidden,
        stale=stale,
        sources={name: texts[name].text for name in sorted(places) if name in texts},
        not_judged=tuple(not_judged),
    )


def join_reports(report: Report, other: Report) -> Report:
    """What two runs over different files have to say, as one report."""
    return Report(
        merges=tuple(sorted((*report.merges, *other.merges), key=_merge_order)),
        findings=tuple(sorted((*report.findings, *other.findings), key=_order)),
        files=report.files + other.files,
        hidden=report.hidden + other.hidden,
        stale=report.stale + other.stale,
        sources={**report.sources, **other.sources},
        not_judged=(*report.not_judged, *other.not_judged),
    )


def _merge_order(merge: ReportedMerge) -> tuple[str, int, int, int, str]:
    return merge.path, merge.cell or 0, merge.line, merge.column, merge.model or ""


def _order(finding: Finding) -> tuple[str, int, int, int, str]:
    place = finding.place
    return place.path, place.cell or 0, place.line, place.column, finding.code


def _without_secrets(finding: Finding, secrets: Iterable[str]) -> Finding:
    """Return the finding without the secrets; a fix that holds one is left out."""
    redacted = replace(
        finding,
        message=redact(finding.message, secrets),
        hint=redact(finding.hint, secrets) if finding.hint else finding.hint,
        subject=redact(finding.subject, secrets),
    )
    if finding.fix and any(redact(edit.content, secrets) != edit.content for edit in finding.fix.edits):
        return replace(redacted, fix=None)
    return redacted


def _merge_without_secrets(merge: ReportedMerge, secrets: Iterable[str]) -> ReportedMerge:
    """Return the verdict on a MERGE without the secrets in its proof."""
    conjuncts = (
        replace(conjunct, text=redact(conjunct.text, secrets), reason=redact(conjunct.reason, secrets))
        for conjunct in merge.conjuncts
    )
    return replace(merge, reason=redact(merge.reason, secrets), conjuncts=tuple(conjuncts))
