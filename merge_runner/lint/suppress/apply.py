"""From what the rules found to the report: comments and the baseline hide, unused comments are findings themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from merge_runner.lint.finding import Finding
from merge_runner.lint.registry import rules
from merge_runner.lint.report import NotJudged, Report, ReportedMerge
from merge_runner.lint.rule import Rule
from merge_runner.lint.selection import RuleSelection
from merge_runner.lint.suppress.baseline import Baseline
from merge_runner.lint.suppress.noqa import Suppressions
from merge_runner.text import SourceText


def finish(
    found: Iterable[Finding],
    merges: Sequence[ReportedMerge],
    texts: Mapping[str, SourceText],
    selection: RuleSelection,
    baseline: Baseline | None,
    *,
    files: int,
    models: Mapping[str, str],
    ran: Callable[[str, Rule], bool],
    not_judged: Sequence[NotJudged] = (),
) -> Report:
    """The report of a run.

    `texts` are the files that were looked at, or that a finding is in, by path; `models` the names of the models
    by the paths of their files; `ran` says whether a file was looked at by a rule.
    """
    by_path: dict[str, list[Finding]] = {path: [] for path in texts}
    for finding in dict.fromkeys(found):
        path = finding.place.path
        named = finding if finding.model else replace(finding, model=models.get(path))
        by_path.setdefault(path, []).append(named)
    kept: list[Finding] = []
    for path, findings in by_path.items():
        source = texts.get(path)
        if source is None:
            kept += findings
            continue
        suppressions = Suppressions.read(source, rules())
        visible, used = suppressions.filter(findings)
        kept += visible
        kept += suppressions.unused(used, selection.severity, ran=partial(ran, path), model=models.get(path))
    kept.sort(key=_order)
    hidden = stale = 0
    if baseline is not None:
        by_code = {rule.code: rule for rule in rules()}

        def looked_at(path: str, code: str) -> bool:
            rule = by_code.get(code)
            if rule is None or path not in texts:
                return False
            return ran(path, rule) and selection.severity(rule, path) is not None

        left = baseline.hide(kept, looked_at)
        kept, hidden, stale = list(left.kept), left.hidden, left.stale
    places = {finding.place.path for finding in kept}
    return Report(
        merges=tuple(sorted(merges, key=_merge_order)),
        findings=tuple(kept),
        files=files,
        hidden=hidden,
        stale=stale,
        sources={path: texts[path].text for path in sorted(places) if path in texts},
        not_judged=tuple(not_judged),
    )


def joined(one: Report, other: Report) -> Report:
    """What two runs over different files have to say, as one report."""
    return Report(
        merges=tuple(sorted((*one.merges, *other.merges), key=_merge_order)),
        findings=tuple(sorted((*one.findings, *other.findings), key=_order)),
        files=one.files + other.files,
        hidden=one.hidden + other.hidden,
        stale=one.stale + other.stale,
        sources={**one.sources, **other.sources},
        not_judged=(*one.not_judged, *other.not_judged),
    )


def _merge_order(merge: ReportedMerge) -> tuple[str, str]:
    return merge.path, merge.model or ""


def _order(finding: Finding) -> tuple[str, int, int, str]:
    return finding.place.path, finding.place.line, finding.place.column, finding.code
