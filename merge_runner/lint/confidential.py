"""Keeps secrets that templates splice into SQL out of reports, and so out of baselines and the cache."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from merge_runner.lint.finding import Finding
from merge_runner.lint.report import ReportedMerge
from merge_runner.template.redact import redact


def without_secrets(finding: Finding, secrets: Iterable[str]) -> Finding:
    """The finding without the secrets; a fix that holds one is left out."""
    redacted = replace(
        finding,
        message=redact(finding.message, secrets),
        hint=redact(finding.hint, secrets) if finding.hint else finding.hint,
        subject=redact(finding.subject, secrets),
    )
    if finding.fix and any(redact(edit.content, secrets) != edit.content for edit in finding.fix.edits):
        return replace(redacted, fix=None)
    return redacted


def merge_without_secrets(merge: ReportedMerge, secrets: Iterable[str]) -> ReportedMerge:
    """The verdict on a MERGE without the secrets in its proof."""
    conjuncts = (
        replace(conjunct, text=redact(conjunct.text, secrets), reason=redact(conjunct.reason, secrets))
        for conjunct in merge.conjuncts
    )
    return replace(merge, reason=redact(merge.reason, secrets), conjuncts=tuple(conjuncts))
