"""Looks at one file with every rule: what they hit becomes findings, the MERGE in it a verdict with its proof."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from merge_runner.errors import Problem, ProblemsError
from merge_runner.lint.context import LintedFile, LintedMerge, LintedProject
from merge_runner.lint.finding import SEVERITIES, Finding, Fix
from merge_runner.lint.registry import rules
from merge_runner.lint.report import JudgementGap, ReportedClause, ReportedConjunct, ReportedMerge
from merge_runner.lint.rule import Check, Hit, Rule
from merge_runner.lint.selection import RuleSelection
from merge_runner.merge.statement import MergeStatement
from merge_runner.merge.syntax.placeholder import as_written, has_placeholder
from merge_runner.pruning.judge.merge_analysis import judge_merge
from merge_runner.pruning.layout.layout import TableLayout
from merge_runner.pruning.query.source import Lookup
from merge_runner.reads import Question
from merge_runner.text import Place, Span


@dataclass(frozen=True)
class CheckResult:
    """The outcome for a file."""

    findings: tuple[Finding, ...]
    merge: ReportedMerge | None = None
    hooks: tuple[ReportedMerge, ...] = ()
    """The verdicts on MERGEs in the hooks of a model."""
    not_judged: tuple[JudgementGap, ...] = ()
    """The MERGE of a model, where its text is known only when it runs."""
    reads: frozenset[Question] = field(default=frozenset(), compare=False, repr=False)
    """What it was made of, where that was noted."""


def linted_merge(file: LintedFile, statement: MergeStatement, layout: TableLayout, lookup: Lookup) -> LintedMerge:
    """The MERGE of a file with everything that is known of it."""
    layout = replace(layout, line=file.line)
    bounds = "not-run" if file.node is None else file.node.config.bounds
    judged = judge_merge(statement, layout, lookup, bounds, file.variables)
    return LintedMerge(
        judged.statement,
        judged.layout,
        judged.source,
        judged.scope,
        judged.judgement,
        judged.lookup,
        judged.selects,
        file=file,
    )


def check_file(file: LintedFile, merge: LintedMerge | None, selection: RuleSelection) -> CheckResult:
    """Findings of all rules that look at one file, one for each cause, and the verdict on its MERGE."""
    findings: list[tuple[Hit, Finding]] = []
    for rule in selection.rules_for(file.path):
        if rule.check_file is not None:
            findings += _findings(rule, rule.check_file, file, selection, file)
        if rule.check_merge is not None and merge is not None:
            findings += _findings(rule, rule.check_merge, merge, selection, file)
    return CheckResult(
        _deduplicate_by_cause(findings, selection.configured_codes), report_merge(merge) if merge is not None else None
    )


def _deduplicate_by_cause(findings: Sequence[tuple[Hit, Finding]], configured: Collection[str]) -> tuple[Finding, ...]:
    """The findings without those whose place another takes; `configured` are codes whose severity the settings say."""
    replaced_places: set[int] = set()
    results: list[Finding] = []
    by_cause: dict[object, list[int]] = {}
    for place, (hit, finding) in enumerate(findings):
        for cause in (finding.code, f"{finding.code} {hit.variant}", (finding.code, finding.place)):
            by_cause.setdefault(cause, []).append(place)
    for hit, finding in findings:
        causes = (*hit.replaces, *((code, finding.place) for code in hit.replaces_here))
        places = sorted({place for cause in causes for place in by_cause.get(cause, ())})
        replaced_places.update(places)
        others = [findings[place][1] for place in places]
        severities = [finding.severity, *(other.severity for other in others if finding.code not in configured)]
        replaced = tuple((other.code, other.place) for other in others)
        results.append(replace(finding, severity=min(severities, key=SEVERITIES.index), replaced=replaced))
    return tuple(finding for place, finding in enumerate(results) if place not in replaced_places)


def check_project(
    project: LintedProject, selection: RuleSelection, among: Sequence[Rule] | None = None
) -> Iterator[Finding]:
    """Findings of the rules `among` (all where it is None) that look at the project as a whole."""
    for rule in rules() if among is None else among:
        if rule.check_project is not None and selection.selected(rule, ""):
            yield from (finding for _, finding in _findings(rule, rule.check_project, project, selection, None))


def report_merge(merge: LintedMerge) -> ReportedMerge:
    """The verdict with its proof, as outputs show it."""
    file, statement, judgement = merge.file, merge.statement, merge.judgement
    conjuncts = []
    for condition in judgement.on:
        place = _place(condition.span, file)
        if place.path != file.path:  # the YAML of a dbt model
            place = Place(file.path, 1, 1)
        text, reason = as_written(condition.text), as_written(condition.reason)
        conjuncts.append(ReportedConjunct(text, condition.prunes, reason, place.line, place.column))
    start = merge_place(file)
    written_name = ".".join(statement.target.parts) or statement.target.relation.of(statement.text)
    target = file.relation.name if file.relation else as_written(written_name)
    return ReportedMerge(
        model=file.name,
        path=file.path,
        target=as_written(target),
        format=merge.layout.format,
        verdict=judgement.verdict,
        reason=as_written(judgement.reason),
        scans_all_on_purpose=merge.scans_all_on_purpose,
        merge_class=statement.merge_class,
        schema_evolution=statement.schema_evolution,
        clauses=tuple(
            ReportedClause(clause.kind, clause.action, clause.condition is not None) for clause in statement.clauses
        ),
        conjuncts=tuple(conjuncts),
        container=file.container,
        line=start.line,
        column=start.column,
        cell=start.cell,
        spark=merge.layout.line.spark,
    )


def merge_place(file: LintedFile) -> Place:
    """Return where the MERGE of a file begins; the beginning of the file where it is generated from YAML."""
    if file.statement is None or file.rendered is None:
        return Place(file.path, 1, 1)
    place = file.rendered.place(file.statement.span.start)
    return place if place.path == file.path else Place(file.path, 1, 1)


def _findings(
    rule: Rule,
    check: Check,
    looks_at: LintedMerge | LintedFile | LintedProject,
    selection: RuleSelection,
    file: LintedFile | None,
) -> Iterator[tuple[Hit, Finding]]:
    at: Place | None = None
    for hit in _hits(rule, check, looks_at, selection, file):
        if at is None and file is not None and file.statement is not None:
            at = merge_place(file)
        place = hit.at if isinstance(hit.at, Place) else _place(hit.at, file)
        if not selection.selected(rule, place.path):
            continue
        # A severity of the settings takes precedence over what the rule decides for a case.
        level = selection.configured(rule) or hit.severity or rule.severity
        subject = hit.subject
        if subject is None and isinstance(hit.at, Span) and file is not None and file.rendered is not None:
            subject = hit.at.of(file.rendered.text)
        yield (
            hit,
            Finding(
                code=rule.code,
                name=rule.name,
                severity=level,
                message=as_written(hit.message),
                place=place,
                model=hit.model or (file.name if file else None),
                hint=as_written(hit.hint) if hit.hint is not None else None,
                fix=_writable(hit.fix),
                subject=as_written(subject or hit.message),
                page=rule.url,
                merge=at,
            ),
        )


def _writable(fix: Fix | None) -> Fix | None:
    """The fix, unless it writes what is filled in at run time in another form than its author."""
    return None if fix is None or any(has_placeholder(edit.content) for edit in fix.edits) else fix


def _hits(
    rule: Rule,
    check: Check,
    subject: LintedMerge | LintedFile | LintedProject,
    selection: RuleSelection,
    file: LintedFile | None,
) -> Iterable[Hit]:
    """Run the rule. Raises ProblemsError where a rule of another package raises an error."""
    if rule.package is None:
        return rule.hits(check, subject, selection.options(rule))
    try:
        return list(rule.hits(check, subject, selection.options(rule)))
    except Exception as error:
        message = f"rule {rule.code} of the package {rule.package} failed: {type(error).__name__}: {error}"
        place = Place(file.path, 1, 1) if file is not None else None
        hint = f'report it to its authors; `ignore = ["{rule.code}"]` under [tool.merge-runner.lint] leaves it out'
        raise ProblemsError([Problem("rule-failed", message, place, hint)]) from error


def _place(span: Span, file: LintedFile | None) -> Place:
    if file is None or file.rendered is None:
        raise TypeError("a rule gave a span of a text that there is not")
    return file.rendered.place(span.start, span.end)
