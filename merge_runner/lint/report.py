"""What a lint run gives: verdicts and findings, and the JSON document with promised keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from merge_runner.formats.lines import RECOMMENDED
from merge_runner.lint.containers.contents import CONTAINERS, Container
from merge_runner.lint.finding import Finding, Severity
from merge_runner.merge.statement import MergeClass
from merge_runner.pruning.verdict import Verdict
from merge_runner.text import Place, place_as_json


@dataclass(frozen=True)
class ReportedConjunct:
    """A conjunct of ON: `prunes` None where it cannot be known."""

    text: str
    prunes: bool | None
    reason: str
    line: int
    column: int


@dataclass(frozen=True)
class ReportedClause:
    """A WHEN clause."""

    kind: str
    action: str
    conditional: bool


@dataclass(frozen=True)
class ReportedMerge:
    """The verdict on one MERGE, with its proof. `model` None: a plain file. `format` None: unknown."""

    model: str | None
    path: str
    target: str
    format: str | None
    verdict: Verdict
    reason: str
    merge_class: MergeClass
    schema_evolution: bool
    clauses: tuple[ReportedClause, ...]
    conjuncts: tuple[ReportedConjunct, ...]
    scans_all_on_purpose: bool = False
    """Whether the model says `scan: full`."""
    container: Container = "model"
    line: int = 1
    column: int = 1
    cell: int | None = None
    """The cell of a notebook in which lines are counted; None where they are those of the file."""
    spark: str = RECOMMENDED.spark
    """The minor version of Spark that the verdict is for."""

    @property
    def place(self) -> Place:
        """Where the MERGE begins."""
        return Place(self.path, self.line, self.column, cell=self.cell)

    def as_json(self) -> dict[str, Any]:
        """The entry of `merges`."""
        return {
            "model": self.model,
            "path": self.path,
            "line": self.line,
            "column": self.column,
            "cell": self.cell,
            "container": self.container,
            "target": self.target,
            "format": self.format,
            "spark": self.spark,
            "verdict": self.verdict,
            "reason": self.reason,
            "scan": "full" if self.scans_all_on_purpose else "bounded",
            "class": self.merge_class,
            "schema_evolution": self.schema_evolution,
            "clauses": [asdict(clause) for clause in self.clauses],
            "conjuncts": [asdict(conjunct) for conjunct in self.conjuncts],
        }


@dataclass(frozen=True)
class JudgementGap:
    """A MERGE that was not judged, or of which some `rules` were not, since lint does not know the text of its query.

    Without rules the MERGE itself is not known. `model` None: a file outside of a project. `hint` is None where nothing
    makes it known.
    """

    model: str | None
    place: Place
    rules: tuple[str, ...]
    reason: str
    hint: str | None = None
    container: Container = "dbt"

    @property
    def what(self) -> str:
        """What was not judged: `C001, C002 and C003`, or `MERGE`."""
        *first, last = self.rules or ("MERGE",)
        return f"{', '.join(first)} and {last}" if first else last

    def as_json(self) -> dict[str, Any]:
        """The entry of `not_judged`."""
        return {
            "model": self.model,
            **place_as_json(self.place),
            "cell": self.place.cell,
            "container": self.container,
            "rules": list(self.rules),
            "reason": self.reason,
            "hint": self.hint,
        }


@dataclass(frozen=True)
class Report:
    """Everything a lint run has to say. `files` is how many files or models were looked at.

    `findings` are in the order of their places, those that noqa, baseline or settings hide left out; `hidden` says how
    many the baseline hid. `sources` are the authors' texts by `Place.text_name`, for excerpts.
    """

    merges: tuple[ReportedMerge, ...] = ()
    findings: tuple[Finding, ...] = ()
    files: int = 0
    hidden: int = 0
    stale: int = 0
    """Entries of the baseline that match nothing any more."""
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)
    not_judged: tuple[JudgementGap, ...] = ()
    """Models of which lint does not know enough, and MERGEs in files that it cannot read."""

    def count(self, severity: Severity) -> int:
        """How many findings have the severity."""
        return sum(finding.severity == severity for finding in self.findings)

    @property
    def verdicts(self) -> dict[Verdict, int]:
        """How many merges have each verdict, in the order static, runtime, none, unknown."""
        counts = Counter(merge.verdict for merge in self.merges)
        order: tuple[Verdict, ...] = ("static", "runtime", "none", "unknown")
        return {verdict: counts[verdict] for verdict in order}

    @property
    def containers(self) -> dict[Container, int]:
        """How many merges are in each kind of container."""
        counts = Counter(merge.container for merge in self.merges)
        return {container: counts[container] for container in CONTAINERS if container in counts}

    def as_json(self) -> dict[str, Any]:
        """The document of `lint --format json`."""
        return {
            "version": 1,
            "summary": {
                "models": self.files,
                "merges": len(self.merges),
                "errors": self.count("error"),
                "warnings": self.count("warning"),
                "infos": self.count("info"),
                "hidden": self.hidden,
                "stale": self.stale,
                "not_judged": len(self.not_judged),
                "verdicts": self.verdicts,
                "containers": self.containers,
            },
            "merges": [merge.as_json() for merge in self.merges],
            "findings": [finding.as_json() for finding in self.findings],
            "not_judged": [item.as_json() for item in self.not_judged],
        }
