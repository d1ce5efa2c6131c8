"""The MERGE of a dbt model, with places in the files that the model's author wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from merge_runner.errors import Problem, ProblemsError
from merge_runner.lint.context import LintedMerge
from merge_runner.lint.dbt.config import DbtConfig, LocatedSpan
from merge_runner.lint.dbt.hints import hint
from merge_runner.lint.dbt.manifest import DbtNode
from merge_runner.lint.dbt.merge import Unknown, unique_keys
from merge_runner.lint.dbt.project import DbtProject
from merge_runner.lint.finding import Finding
from merge_runner.lint.report import JudgementGap
from merge_runner.merge.statement import MergeStatement
from merge_runner.template.capture import Capture
from merge_runner.template.rendered_text import RenderedText
from merge_runner.template.source_map import SourceMap
from merge_runner.text import Place, Span, as_source

_SCANS = ("bounded", "full")


@dataclass(frozen=True)
class DbtModel:
    """A model or snapshot of a dbt project, and the MERGE that dbt runs for it.

    `text` None: the model has none, or it is not known, and `unknown` says why.
    `generated` is the file that holds it; None for a text that lint has generated from the config, as dbt-spark does.
    """

    project: DbtProject
    node: DbtNode
    config: DbtConfig
    text: str | None = None
    unknown: Unknown | None = None
    generated: str | None = None
    file: Path | None = None
    """The model's own file; None where it is not there."""

    @cached_property
    def rows(self) -> str | Unknown:
        """The query whose rows the MERGE reads, or why it is not known."""
        if self.generated is not None:
            return self.project.last_rows(self.node) or Unknown("its compiled query is not in the target folder")
        return self.project.next_rows(self.node, self.file)

    @property
    def query(self) -> str | None:
        """The query whose rows the MERGE reads; None where it is not known."""
        return self.rows if isinstance(self.rows, str) else None

    def not_judged(self, rules: Sequence[str]) -> JudgementGap | None:
        """Return that the MERGE, or those of the `rules` that need its query, were not judged; None where they were."""
        if self.unknown is not None:
            if not self.unknown.needs_query:
                return None  # a separate error
            reason, rules = self.unknown.why, ()
        else:
            if self.text is None or self.node.kind != "model" or isinstance(self.rows, str) or not rules:
                return None
            reason = self.rows.why
        how = "dbt compile" if self.project.compile_suffices(self.node) else "dbt run"
        again = "" if how == "dbt compile" else " twice: the second run compiles the incremental query"
        hint = f"run `{how}`{again}, and lint again" if self.node.language == "sql" else None
        return JudgementGap(self.node.name, self.config.place.place, tuple(rules), reason, hint)

    @property
    def is_stale(self) -> bool:
        """Whether the model's file is another one than that of which dbt wrote the manifest."""
        raw = as_source(self.node.raw_code).strip()
        return self.node.kind == "model" and raw != "" and raw != self.config.source.text.strip()

    @property
    def scan(self) -> Literal["bounded", "full"]:
        """What `meta: {merge_runner: …}` of the model's config declares. Raises ProblemsError for anything else."""
        meta = self.node.config.get("meta")
        own = meta.get("merge_runner") if isinstance(meta, Mapping) else None
        if own is None:
            return "bounded"
        scan = own.get("scan", "bounded") if isinstance(own, Mapping) and own.keys() <= {"scan"} else None
        if scan not in _SCANS:
            place = (self.config.find("meta") or self.config.place).place
            message = f"meta of {self.node.name}: merge_runner takes `scan`, which is bounded or full"
            raise ProblemsError([Problem("invalid-config", message, place, "write meta: {merge_runner: {scan: full}}")])
        return "full" if scan == "full" else "bounded"

    def rendered(self, statement: MergeStatement | None) -> RenderedText:
        """Return the MERGE as a rendered text whose places are those of the model's config and query."""
        text = self.text or ""
        pieces = tuple(_pieces(self, text, statement))
        nowhere = SourceMap((0,), (-1,), (Span(0, 0),))
        return _Placed(self.config.source, text, Capture(), nowhere, pieces=pieces, otherwise=self.config.place)

    def adapted(self, finding: Finding, merge: LintedMerge | None, *, configured: bool) -> Finding:
        """Return a finding with help for the model's author, and without a fix of the generated text.

        `configured` says that its severity is one of the settings.
        """
        if finding.code == "C004" and not configured and self.node.appends_by_default:
            finding = replace(finding, severity="warning")
        return replace(finding, hint=hint(finding, merge, self.node), fix=None)


@dataclass(frozen=True)
class _Piece:
    """A part of the MERGE, and what of the author's it was made of."""

    span: Span
    located: LocatedSpan


@dataclass(frozen=True)
class _Placed(RenderedText):
    pieces: tuple[_Piece, ...] = field(kw_only=True)
    otherwise: LocatedSpan = field(kw_only=True)

    def place(self, start: int, end: int | None = None) -> Place:
        stop = start + 1 if end is None else max(end, start + 1)
        hit = [piece for piece in self.pieces if piece.span.start < stop and start < piece.span.end]
        if not hit:
            return self.otherwise.place
        first = hit[0].located
        if len(hit) == 1 and first.exact and hit[0].span.start <= start and stop <= hit[0].span.end:
            moved = first.span.start - hit[0].span.start
            return first.source.place(start + moved, stop + moved)
        same = [piece.located.span for piece in hit if piece.located.source.path == first.source.path]
        return first.source.place(min(span.start for span in same), max(span.end for span in same))


def _pieces(model: DbtModel, text: str, statement: MergeStatement | None) -> list[_Piece]:
    """The parts of a MERGE whose origin is known: predicates as they are written, keys in their order, the source."""
    config, settings = model.config, model.node.config
    if statement is None:
        return []
    pieces: list[_Piece] = []
    predicates = settings.get("predicates") or settings.get("incremental_predicates") or []
    key = "predicates" if settings.get("predicates") else "incremental_predicates"
    at = statement.on_span.start
    for index, predicate in enumerate(predicates if isinstance(predicates, list) else ()):
        start = text.find(predicate, at, statement.on_span.end) if isinstance(predicate, str) and predicate else -1
        if start >= 0:
            at = start + len(predicate)
            pieces.append(_Piece(Span(start, at), config.find(key, index, predicate) or config.place))
    keys = unique_keys(settings) or []
    joins = [
        conjunct.span for conjunct in statement.on if not any(_meet(conjunct.span, piece.span) for piece in pieces)
    ]
    for index, span in enumerate(joins):
        located = config.find("unique_key", index if len(joins) == len(keys) else None)
        if not keys:  # the FALSE that dbt writes then
            located = config.find("incremental_strategy")
        pieces.append(_Piece(span, located or config.place))
    pieces.append(_Piece(statement.source.span, config.query(model.query)))
    updated = config.find("merge_update_columns")
    for clause in statement.clauses:
        located = updated if updated is not None and clause.action == "update" else config.place
        pieces.append(_Piece(clause.span, located))
    return sorted(pieces, key=lambda piece: piece.span)


def _meet(span: Span, other: Span) -> bool:
    return span.start < other.end and other.start < span.end
