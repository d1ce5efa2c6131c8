"""What Delta does with each MERGE of the corpus, recorded in answers.yml: it refuses it, or skips files of the target.

Each runs on one pair of tables whatever names it has, with sample values for what is filled in at run time; those whose
placeholders have no sample, whose columns are qualified by the name of a table, or that name a variable of the session,
are left out. `python -m pytest tests/lint/containers/test_answers.py -m spark` compares the recording, with `RECORD=1`
it writes it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from merge_runner.engine.spark.errors import engine_error
from merge_runner.formats.types import parse_type
from merge_runner.lint.check import check_file, linted_merge
from merge_runner.lint.containers.placeholders import placeholders_of
from merge_runner.lint.containers.registry import read_contents
from merge_runner.lint.context import LintedFile
from merge_runner.lint.selection import RuleSelection
from merge_runner.merge.parse import parse
from merge_runner.merge.statement import MergeStatement
from merge_runner.merge.syntax.error import MergeSyntaxError
from merge_runner.merge.syntax.placeholder import PLACEHOLDER, has_placeholder
from merge_runner.project.schema.settings import LintSettings
from merge_runner.pruning.layout.layout import TableColumn, TableLayout, partition_field
from merge_runner.pruning.query.source import KnownTable
from merge_runner.template.rendered_text import RenderedText
from merge_runner.text import SourceText
from tests.yaml_data import read_yaml

from . import test_code, test_contents

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RECORDED = Path(__file__).parent / "answers.yml"
SCHEMA = "container_answers"
OTHERS = {
    "boolean": ("deleted", "gone", "is_current"),
    "date": ("day", "sold_on", "d"),
    "timestamp": ("ts", "changed_at", "updated_at", "valid_from", "valid_to"),
    "bigint": ("key", "customer_id", "lsn", "balance", "amount", "x"),
    "string": ("op", "v", "p", "c", "a", "hash", "address", "state", "note", "name"),
}
"""Columns that statements of the corpus name, NULL in all rows."""
COLUMNS = {"id": "bigint", "dt": "date", "region": "string", "n": "int"} | {
    name: kind for kind, names in OTHERS.items() for name in names
}
ROWS = (
    "select id, date'2023-12-27' + cast(id as int) as dt, if(id = 1, 'AP', 'EU') as region, cast(id as int) as n, "
    + ", ".join(f"cast(null as {COLUMNS[name]}) as {name}" for name in list(COLUMNS)[4:])
    + " from range({}, {})"
)
"""Of the target one row a day from 2023-12-28 on, of the source that of 2024-01-01."""
LAYOUT = TableLayout(
    format="delta",
    columns=tuple(TableColumn(name, parse_type(kind)) for name, kind in COLUMNS.items()),
    complete=True,
    partition_by=(partition_field("dt"),),
)
REFUSALS = frozenset({"E003", "C005", "C006", "C007", "C009", "C012"})
"""Rules that report what Spark or Delta refuses."""
DAY = "date'2024-01-01'"
SAMPLES = {
    **dict.fromkeys(("day", ":day", "?", "days"), DAY),
    **dict.fromkeys(("cond", "keep", "changed", "build_condition(keys)", "isOpen(df)", "my_udf(F.col(t.id))"), "true"),
    **{"on": "t.id = s.id", "and_more": "", "maybe": "", "key": "id", "col": "n", "part": "dt", "n": "3", "other": "3"},
    **{"assignments": "n = 5", "cols": "id", "vals": "s.id", "query": f"select * from {SCHEMA}.s", "$column": "region"},
    **{"when_clauses": "when matched then delete", "action": "delete"},
}
_NAME = rf"(?:{PLACEHOLDER}|`[^`]*`|[\w.])+"
_RELATION = re.compile(rf"(?<!distinct )\b(into|using|from|join)\s+({_NAME})", re.IGNORECASE)
_IN_QUOTES = re.compile(rf"'{PLACEHOLDER}'")
_VARIABLE = re.compile(r"\bsession`?\.", re.IGNORECASE)
_MARKER = re.compile(r"(?<!:):day\b|\?")


def merges() -> Iterator[str]:
    """The MERGEs of the corpus, each as lint reads it."""
    found = [each for case in test_code.cases() for each in test_code.read(*case.values).statements]
    for case in test_contents.CASES:
        for path, file in case.values[0]["files"].items():
            source = SourceText(path, test_contents.content(file))
            try:
                contents = read_contents(source, lambda source: placeholders_of(RenderedText.plain(source)))
            except MergeSyntaxError:
                continue
            found += contents.statements
    for each in found:
        if re.match(r"(?:with\b.*)?\s*merge\b", each.rendered.text, re.IGNORECASE | re.DOTALL):
            yield each.rendered.text


def filled(text: str, statement: MergeStatement) -> str | None:
    """The statement over the tables of this test; None where a part of it has no sample."""
    ctes = {cte.name.casefold() for cte in statement.ctes}

    def relation(found: re.Match[str]) -> str:
        if found[2].casefold() in ctes:
            return found[0]
        return f"{found[1]} {SCHEMA}.{'t' if found[1].casefold() == 'into' else 's'}"

    def sample(found: re.Match[str]) -> str:
        spelled = found[0].removeprefix("${=").removeprefix("${").removesuffix("}")
        return SAMPLES.get(spelled[1:-1] if spelled[:1] + spelled[-1:] == "{}" else spelled, found[0])

    if statement.target.alias is None or statement.source.alias is None or _VARIABLE.search(text):
        return None
    text = _IN_QUOTES.sub("'2024-01-01'", _RELATION.sub(relation, text))
    text = " ".join(_MARKER.sub(DAY, re.sub(PLACEHOLDER, sample, text)).split())
    return None if has_placeholder(text) else text


def asked() -> dict[str, list[tuple[str, MergeStatement]]]:
    """The statements that the engine is asked about, each with those of the corpus that it stands for."""
    found: dict[str, list[tuple[str, MergeStatement]]] = {}
    for text in merges():
        try:
            statement = parse(text)
        except MergeSyntaxError:
            continue
        statement_to_run = filled(text, statement)
        if statement_to_run is not None:
            found.setdefault(statement_to_run, []).append((text, statement))
    return found


def linted(text: str, *, complete: bool) -> tuple[str, bool]:
    """The verdict on a MERGE, and whether lint refuses it; `complete`: the columns of its source are known as well."""
    source = SourceText("job.sql", text)
    try:
        statement = parse(text)
    except MergeSyntaxError:
        return "", True
    file = LintedFile(source, None, RenderedText.plain(source), statement=statement)
    merge = linted_merge(file, statement, LAYOUT, lambda parts: KnownTable(LAYOUT) if complete else None)
    checked = check_file(file, merge, RuleSelection.from_settings(LintSettings(), None))
    return merge.judgement.verdict, any(each.code in REFUSALS for each in checked.findings)


def test_lint_says_what_the_engine_does() -> None:
    answers = read_yaml(RECORDED)
    wrong: list[tuple[str, object, object]] = []
    for text, originals in asked().items():
        answer = answers[text]
        verdict, refused = linted(text, complete=True)
        if refused is not isinstance(answer, str):
            wrong.append((text, answer, refused))
        verdicts = [verdict, *(linted(original, complete=False)[0] for original, _ in originals)]
        if (answer is False and "static" in verdicts) or (answer is True and "none" in verdicts):
            wrong.append((text, answer, verdicts))
    assert wrong == []
    assert sum(map(len, asked().values())) >= 150


@pytest.mark.spark
@pytest.mark.parametrize("one_in", [pytest.param(6, id="some"), pytest.param(1, id="all", marks=pytest.mark.nightly)])
def test_the_engine_does_what_is_recorded(spark, one_in) -> None:
    recording = "RECORD" in os.environ
    spark.sql(f"create schema if not exists {SCHEMA}")
    spark.sql(f"create or replace table {SCHEMA}.t using delta partitioned by (dt) as {ROWS.format(1, 9)}")
    spark.sql(f"create or replace view {SCHEMA}.s as {ROWS.format(5, 6)}")
    found = {text: answer(spark, text) for text in list(asked())[:: 1 if recording else one_in]}
    spark.sql(f"drop schema {SCHEMA} cascade")
    if recording:
        RECORDED.write_text(
            "# What Delta does with the MERGEs of the corpus: true, it skips files; false, it reads all; or its error.\n"
            + yaml.safe_dump(found, sort_keys=False, width=1000, allow_unicode=True),
            encoding="utf-8",
        )
        return
    answers = read_yaml(RECORDED)
    assert found == {text: answers[text] for text in found}


def answer(spark: SparkSession, text: str) -> bool | str:
    """Whether the MERGE would read fewer files than there are, from its plan; or the condition of its error."""
    jvm, session = spark._jvm, spark._jsparkSession
    mode = getattr(jvm.org.apache.spark.sql.execution, "CommandExecutionMode$")
    none = getattr(getattr(jvm.scala, "None$"), "MODULE$")
    state = session.sessionState()
    try:
        plan = state.executePlan(state.sqlParser().parsePlan(text), getattr(mode, "MODULE$").SKIP())
        plan.assertAnalyzed()
        command = plan.optimizedPlan()
    except Exception as error:
        return engine_error(error).code
    if not command.notMatchedBySourceClauses().isEmpty():
        return False  # Delta reads all files then: tests/pruning/judge/test_judge_against_engines.py
    snapshot = command.targetDeltaLog().update(False, none, none)
    read = snapshot.filesForScan(command.getTargetOnlyPredicates(session), False).files().size()
    return bool(read < snapshot.numOfFiles())
