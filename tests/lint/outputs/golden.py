"""The reports under reports/, made of YAML; what each format makes of them stands under expected/."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from merge_runner.lint.finding import Edit, Finding, Fix
from merge_runner.lint.report import JudgementGap, Report, ReportedClause, ReportedConjunct, ReportedMerge
from merge_runner.text import Place
from tests.yaml_data import read_yaml

HERE = Path(__file__).parent
NAMES = sorted(path.stem for path in (HERE / "reports").glob("*.yml"))


def document(name: str) -> dict[str, Any]:
    return read_yaml(HERE / "reports" / f"{name}.yml")


def report(name: str) -> Report:
    """`repeat: n` of a document makes n files of each, `{n}` in paths and models their number."""
    content = document(name)
    numbers = range(content.get("repeat", 1))
    return Report(
        merges=tuple(_merge(item, n) for n in numbers for item in content.get("merges", [])),
        findings=tuple(_finding(item, n) for n in numbers for item in content.get("findings", [])),
        files=content.get("files", 0),
        hidden=content.get("hidden", 0),
        not_judged=tuple(_not_judged(item, n) for n in numbers for item in content.get("not_judged", [])),
        sources={path.format(n=n): text for n in numbers for path, text in content.get("sources", {}).items()},
    )


def place(path: str, text: str) -> Place:
    """`5:7`, `5:7-13` or `5:7-7:20`, with `cell 3:` in front for a notebook."""
    match = re.fullmatch(r"(?:cell (\d+):)?(\d+):(\d+)(?:-(?:(\d+):)?(\d+))?", text)
    cell, line, column, end_line, end_column = (int(part) if part else None for part in match.groups())
    return Place(path, line, column, (end_line or line) if end_column else None, end_column, cell=cell)


def _not_judged(item: dict[str, Any], n: int) -> JudgementGap:
    at = place(item["path"].format(n=n), item["at"])
    model = item["model"].format(n=n) if "model" in item else None
    container = item.get("container", "dbt")
    return JudgementGap(model, at, tuple(item["rules"]), item["reason"], item.get("hint"), container)


def _merge(item: dict[str, Any], n: int) -> ReportedMerge:
    clauses = tuple(ReportedClause(*clause) for clause in item.get("clauses", []))
    conjuncts = []
    for conjunct in item.get("conjuncts", []):
        at = place("", conjunct["at"])
        conjuncts.append(ReportedConjunct(conjunct["text"], conjunct["prunes"], conjunct["reason"], at.line, at.column))
    model = item.get("model")
    begin = place("", item.get("at", "1:1"))
    return ReportedMerge(
        model.format(n=n) if model else None,
        item["path"].format(n=n),
        item["target"].format(n=n),
        item.get("format"),
        item["verdict"],
        item["reason"],
        item.get("class", "general"),
        item.get("schema_evolution", False),
        clauses,
        tuple(conjuncts),
        item.get("scan") == "full",
        item.get("container", "model" if model else "sql"),
        begin.line,
        begin.column,
        begin.cell,
    )


def _finding(item: dict[str, Any], n: int) -> Finding:
    path = item["path"].format(n=n)
    code, name = item["rule"].split()
    fix = item.get("fix")
    if fix is not None:
        edits = tuple(Edit(place(path, at), content) for at, content in fix["edits"].items())
        fix = Fix(fix["message"], edits, fix.get("applicability", "unsafe"))
    model = item.get("model")
    return Finding(
        code,
        name,
        item["severity"],
        item["message"],
        place(path, item["at"]),
        model.format(n=n) if model else None,
        item.get("hint"),
        fix,
        item.get("subject", item["message"]),
        merge=place(path, item["merge"]) if "merge" in item else None,
    )
