"""Every rule against its cases: small projects that it finds something in, or nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from merge_runner.lint.documentation import examples
from merge_runner.lint.finding import Finding
from merge_runner.lint.fixes import apply
from merge_runner.lint.registry import rules
from merge_runner.lint.report import Report
from merge_runner.lint.run.lint_files import Surroundings, lint_files
from merge_runner.lint.run.lint_project import LintOptions, lint_project
from merge_runner.lint.run.plain_files import plain_files
from merge_runner.plan.load.flags import Flags
from merge_runner.plan.load.project_context import prepare_to_lint
from merge_runner.text import SourceText
from tests.yaml_data import read_yaml

HERE = Path(__file__).parent
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
COLUMNS = {
    "id": "bigint not null",
    "dt": "date not null",
    "region": "string",
    "ts": "timestamp",
    "amount": "decimal(10,2)",
    "name": "string",
    "flag": "boolean",
}
"""The columns of the target and of the source of a case that does not say otherwise."""

PROFILES = "shop: {outputs: {dev: {master: 'local[2]', schema: shop, catalogs: {ice: {type: embedded}}}}}\n"
"""The profile of a case that does not say otherwise."""

CASES = [
    pytest.param(path.stem, case, id=f"{path.stem}-{case['name'].replace(' ', '-')}")
    for path in sorted((HERE / "rules").glob("*.yml"))
    for case in read_yaml(path)
]
EXAMPLES = [
    pytest.param(rule.code, example, id=f"{rule.code}-{example.kind}-{number}")
    for rule in rules()
    for number, example in enumerate(examples(rule))
]
CAUSES = read_yaml(HERE / "causes.yml")
CASE_KEYS = {
    *("name", "model", "findings", "columns", "config", "source", "source_table", "vars", "files", "plain", "layout"),
    *("settings", "found", "alone"),
}
FINDING_KEYS = {*("line", "column", "end_line", "end_column", "message", "hint", "severity", "text", "fix", "model")}


def columns(declared: dict[str, str] | None) -> list[dict[str, Any]]:
    found = []
    for name, text in (declared or {}).items():
        data_type, not_null, _ = str(text).partition(" not null")
        column: dict[str, Any] = {"name": name, "data_type": data_type}
        if not_null:
            column["constraints"] = [{"type": "not_null"}]
        if " generated " in data_type:
            column["data_type"], _, expression = data_type.partition(" generated ")
            column["constraints"] = [{"type": "custom", "expression": f"generated {expression}"}]
        found.append(column)
    return found


def project(case: dict[str, Any], root: Path) -> Path:
    config = {"format": "delta", **case.get("config", {"partition_by": ["dt"]})}
    properties = {
        "version": 2,
        "sources": [
            {
                "name": "raw",
                "tables": [
                    {"name": "s", "columns": columns(case.get("source", COLUMNS)), **case.get("source_table", {})}
                ],
            }
        ],
        "models": [{"name": "m", "config": config, "columns": columns(case.get("columns", COLUMNS))}],
    }
    files = {
        "pyproject.toml": f'[tool.merge-runner]\nname = "shop"\n{case.get("settings", "")}',
        "profiles.yml": PROFILES,
        "models/m.sql": case["model"],
        "models/m.yml": yaml.dump(properties, Dumper=DUMPER, sort_keys=False),
        **case.get("files", {}),
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def lint(case: dict[str, Any], root: Path, rules: Sequence[str] = ()) -> Report:
    """The report on the project of a case, or with `plain` on its text alone; `layout` is a file for `--layout`.

    `rules` are those that look at it; none: all.
    """
    assert case.keys() <= CASE_KEYS, case.keys() - CASE_KEYS
    layout = None
    if "layout" in case:
        layout = root / "layout.yml"
        layout.write_text(case["layout"], encoding="utf-8")
    options = LintOptions(rules, layout=layout)
    if case.get("plain"):
        (root / "m.sql").write_text(case["model"], encoding="utf-8")
        around = Surroundings(root, vars=case.get("vars", {}))
        return lint_files(list(plain_files([root / "m.sql"], root)), options, {}, around)
    prepared, jinja = prepare_to_lint(project(case, root), Flags(vars=case.get("vars", {})), {}, cache=False)
    return lint_project(prepared, prepared.graph.nodes, options, jinja)


def said(finding: Finding, root: Path) -> dict[str, Any]:
    """What a case may expect of a finding."""
    place = finding.place
    source = SourceText(place.path, (root / place.path).read_text(encoding="utf-8"))
    start = source.offset(place.line, place.column)
    end = source.offset(place.end_line, place.end_column) if place.end_line and place.end_column else start
    return {
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "message": finding.message,
        "hint": finding.hint,
        "severity": finding.severity,
        "model": finding.model,
        "text": source.text[start:end],
        "fix": apply(source, [finding.fix], unsafe=True).text if finding.fix else None,
    }


@pytest.mark.parametrize(("code", "case"), CASES)
def test_case(code, case, tmp_path):
    """What the rule by itself finds: another one may have the same cause (causes.yml)."""
    found = [finding for finding in lint(case, tmp_path, [code]).findings if finding.code == code]
    wanted = case.get("findings") or []
    assert len(found) == len(wanted), [str(finding) for finding in found]
    for finding, expected in zip(found, wanted, strict=True):
        assert expected.keys() <= FINDING_KEYS, expected.keys() - FINDING_KEYS
        given = said(finding, tmp_path)
        for key, value in expected.items():
            if key in ("message", "hint"):
                assert re.search(value, given[key] or ""), (key, given[key])
            else:
                assert given[key] == value, (key, given[key])


@pytest.mark.parametrize("case", CAUSES, ids=lambda case: case["name"].replace(" ", "-"))
def test_each_cause_is_one_finding(case, tmp_path):
    found = [f"{finding.code} {finding.severity}" for finding in lint(case, tmp_path).findings]
    assert sorted(found) == sorted(case["found"])
    again = {finding.code for code in case.get("alone", ()) for finding in lint(case, tmp_path, [code]).findings}
    assert again == set(case.get("alone", ()))


@pytest.mark.parametrize(("code", "example"), EXAMPLES)
def test_an_example_gives_what_it_is_said_to(code, example, tmp_path):
    case = {"model": example.sql, **(yaml.safe_load(example.yaml) if example.yaml else {})}
    findings = lint(case, tmp_path).findings
    assert any(finding.code == code for finding in findings) is (example.kind == "bad")
    if example.kind == "good":
        assert not [finding for finding in findings if finding.severity == "error"]


def test_every_rule_has_cases():
    missing = {rule.code for rule in rules()} - {path.stem for path in (HERE / "rules").glob("*.yml")} - {"S001"}
    assert not missing
