"""What is read out of Python and Scala code, as data: the text of each statement, its places, what lint says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from merge_runner.formats.types import parse_type
from merge_runner.lint.check import check_file, linted_merge
from merge_runner.lint.containers.contents import Contents, EmbeddedStatement
from merge_runner.lint.containers.placeholders import placeholders_of
from merge_runner.lint.containers.python_code import read_python
from merge_runner.lint.containers.scala_code import read_scala
from merge_runner.lint.context import LintedFile
from merge_runner.lint.selection import RuleSelection
from merge_runner.merge.parse import parse
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.placeholder import as_written
from merge_runner.project.schema.settings import LintSettings
from merge_runner.pruning.layout.layout import UNKNOWN, TableColumn, TableLayout, partition_field
from merge_runner.template.rendered_text import RenderedText
from merge_runner.text import SourceText
from tests.yaml_data import read_yaml

HERE = Path(__file__).parent
SOURCE = "job.x"


VISITS = TableLayout(
    format="delta",
    columns=tuple(
        TableColumn(name, parse_type(kind))
        for name, kind in {"id": "bigint", "dt": "date", "region": "string", "n": "int"}.items()
    ),
    complete=True,
    partition_by=(partition_field("dt"),),
)
"""The layout that cases mean by `layout: visits`."""
MANY = ("P001", "P002", "K001")
"""Rules that say of most of these what the verdict says."""


def cases() -> list[Any]:
    found = []
    for name in ("python", "builder", "scala", "placeholders"):
        listed = read_yaml(HERE / f"{name}.yml")
        found += [pytest.param(name, case, id=f"{name}-{case['name'].replace(' ', '-')}") for case in listed]
    return found


def read(kind: str, case: dict[str, Any]) -> Contents:
    if "cells" in case:
        return read_python([SourceText(SOURCE, text, cell=number) for number, text in enumerate(case["cells"], 1)])
    source = SourceText(SOURCE, case["source"])
    if kind == "scala":
        return read_scala(source)
    if kind == "placeholders":
        return Contents((EmbeddedStatement("sql", placeholders_of(RenderedText.plain(source))),))
    return read_python([source])


@pytest.mark.parametrize(("kind", "case"), cases())
def test_statements_are_read_as_recorded(kind: str, case: dict[str, Any]) -> None:
    contents = read(kind, case)
    assert [each.reason for each in contents.unread] == case.get("unread", [])
    expected = [case] if kind == "placeholders" else case.get("statements", [])
    assert len(contents.statements) == len(expected), [each.rendered.text for each in contents.statements]
    for found, wanted in zip(contents.statements, expected, strict=True):
        check_text(found, wanted)
        if "verdict" in wanted:
            check_findings(found, wanted, VISITS if case.get("layout") == "visits" else UNKNOWN)


def test_branches_nested_deeply_are_no_traceback() -> None:
    branches = "".join(f"elif x == {n}:\n    y = {n}\n" for n in range(900))
    text = f"if x:\n    pass\n{branches}spark.sql('merge into t using s on t.id = s.id when matched then delete')\n"
    contents = read_python([SourceText(SOURCE, text)])
    assert len(contents.statements) + len(contents.unread) == 1


def test_a_chain_of_many_literals_is_one_text() -> None:
    text = (
        "spark.sql("
        + " + ".join(["'merge into t using s '", "'on t.id = s.id '", *["' '"] * 300, "'when matched then delete'"])
        + ")"
    )
    (found,) = read_python([SourceText(SOURCE, text)]).statements
    assert found.rendered.text.split()[-2:] == ["then", "delete"]


def test_a_line_in_a_string_is_no_magic() -> None:
    text = 'spark.sql("""merge into t using s on t.id = s.id when matched then update set\n%(assignments)s\n""")'
    (found,) = read_python([SourceText(SOURCE, text)]).statements
    assert "%(assignments)s" in as_written(found.rendered.text)


def test_what_a_loop_adds_is_not_known() -> None:
    text = (
        "q = 'merge into t using s on t.id = s.id when matched then update set n = s.n'\n"
        "for c in columns:\n    q += f', {c} = s.{c}'\nspark.sql(q)"
    )
    (found,) = read_python([SourceText(SOURCE, text)]).statements
    assert as_written(found.rendered.text).endswith("set n = s.n {…}")
    assert parse(found.rendered.text).more_clauses


def test_format_takes_a_dict() -> None:
    text = (
        "P = {'t': 'gold.visits'}\n"
        "spark.sql('merge into {t} t using {s} s on t.id = s.id when matched then delete'.format(**P))"
    )
    (found,) = read_python([SourceText(SOURCE, text)]).statements
    assert as_written(found.rendered.text).startswith("merge into gold.visits t using {s} s")


def test_an_empty_alias_is_none() -> None:
    text = 'dt.alias("").merge(df.alias(""), "t.id = s.id").whenMatchedDelete().execute()'
    (found,) = read_python([SourceText(SOURCE, text)]).statements
    assert as_written(found.rendered.text).startswith("merge into dt\nusing df\non t.id")


def check_text(found: EmbeddedStatement, wanted: dict[str, Any]) -> None:
    text = found.rendered.text
    if "text" in wanted:
        assert " ".join(as_written(text).split()) == wanted["text"]
        assert found.container == wanted["container"]
    for piece, place in wanted.get("places", {}).items():
        start = text.index(piece)
        at = found.rendered.place(start, start + len(piece))
        shown = f"{at.line}:{at.column}-{at.end_line}:{at.end_column}"
        assert (f"cell {at.cell} " if at.cell else "") + shown == place, piece
    if "error" in wanted:
        with pytest.raises(MergeSyntaxError) as caught:
            parse(text)
        assert caught.value.message == wanted["error"]


def check_findings(found: EmbeddedStatement, wanted: dict[str, Any], layout: TableLayout) -> None:
    file = LintedFile(found.rendered.source, None, found.rendered, statement=parse(found.rendered.text))
    assert file.statement is not None
    merge = linted_merge(file, file.statement, layout, lambda parts: None)
    checked = check_file(file, merge, RuleSelection.from_settings(LintSettings(), None))
    assert merge.judgement.verdict == wanted["verdict"], merge.judgement.reason
    assert checked.merge is not None
    assert checked.merge.target == wanted["target"]
    codes = {each.code for each in checked.findings}.difference(MANY)
    assert sorted(codes) == wanted.get("codes", []), [each.message for each in checked.findings]
    shown = [checked.merge.reason, *(f"{each.message} {each.hint} {each.subject}" for each in checked.findings)]
    assert not any("${=" in text for text in shown)
