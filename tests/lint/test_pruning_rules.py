"""What holds of the rules on pruning whatever the condition of ON is made of."""

from __future__ import annotations

from collections import Counter

from hypothesis import example, given
from hypothesis import strategies as st

from merge_runner.formats.types import parse_type
from merge_runner.lint.check import linted_merge
from merge_runner.lint.context import LintedFile, LintedMerge
from merge_runner.lint.registry import rules
from merge_runner.lint.rule import Hit
from merge_runner.merge.parse import parse
from merge_runner.pruning.layout.layout import TableColumn, TableLayout, partition_field
from merge_runner.pruning.query.source import KnownTable
from merge_runner.template.rendered_text import RenderedText
from merge_runner.text import SourceText, Span

TYPES = {
    "id": "bigint",
    "dt": "date",
    "region": "string",
    "ts": "timestamp",
    "amount": "decimal(10,2)",
    "flag": "boolean",
}
COLUMNS = tuple(TableColumn(name, parse_type(text), nullable=name != "id") for name, text in TYPES.items())
CHECKED = [rule for rule in rules() if rule.code[0] == "P" or rule.code in ("K001", "K002", "K003", "K004")]
OF_A_CONJUNCT = {"P002", "P004", "P005", "P007", "P008", "P009", "P010"}
"""Rules that say what one condition of ON does not do: of each there is one to say it."""

CONDITIONS = st.sampled_from(
    [
        *("t.id = s.id", "t.dt = s.dt", "t.region <=> s.region", "t.ts < s.ts", "s.flag", "date_add(t.dt, 1) = s.dt"),
        *("t.dt = date'2024-01-01'", "t.ts >= '2024-01-01'", "t.id in (1, 9)", "t.id = 5", "t.region like 'e%'"),
        *(
            "year(t.ts) = 2024",
            "year(t.dt) = 2024",
            "t.id + 1 = 5",
            "t.region = 5",
            "t.amount > 1e2",
            "t.flag",
            "1 = 1",
        ),
        *(
            "t.region is null",
            "t.id is not null",
            "t.region <> 'eu'",
            "t.id >>> 1 = 2",
            "false",
            "region = 'eu'",
            "my(t.dt)",
        ),
    ]
)
CONJUNCTS = st.recursive(
    CONDITIONS,
    lambda inner: st.one_of(
        st.builds("({} or {})".format, inner, inner),
        st.builds("({} and {})".format, inner, inner),
        st.builds("not ({})".format, inner),
    ),
    max_leaves=4,
)
LAYOUTS = st.builds(
    lambda name, fields: TableLayout(
        name, COLUMNS, complete=True, partition_by=tuple(partition_field(text) for text in fields), cluster_by=()
    ),
    st.sampled_from(["delta", "iceberg", None]),
    st.sampled_from([[], ["dt"], ["dt", "region"], ["bucket(8, id)", "days(ts)"]]),
)
CLAUSES = st.sampled_from(
    [
        "when matched then delete",
        "when matched and t.dt = date'2024-01-01' then delete",
        "when matched and t.dt > s.dt then update set * when not matched then insert *",
        "when not matched then insert *",
        "when matched then update set dt = s.dt when not matched by source and t.flag then delete",
    ]
)


def linted(on: list[str], layout: TableLayout, clauses: str) -> LintedMerge:
    source = SourceText("m.sql", f"merge into m as t using raw as s on {' and '.join(on)} {clauses}")
    statement = parse(source.text)
    file = LintedFile(source, None, RenderedText.plain(source), statement=statement)
    tables = {("raw",): KnownTable(TableLayout(columns=COLUMNS, complete=True)), ("m",): KnownTable(layout)}
    return linted_merge(file, statement, layout, tables.get)


def hits(merge: LintedMerge) -> list[tuple[str, str, Hit]]:
    """Code, severity and hit of each finding."""
    return [(rule.code, hit.severity or rule.severity, hit) for rule in CHECKED for hit in rule.check_merge(merge)]


@example(
    ["t.id = s.id", "(t.id = s.id or year(t.ts) = 2024)"], TableLayout("delta", COLUMNS), "when matched then delete"
)
@given(st.lists(CONJUNCTS, min_size=1, max_size=3), LAYOUTS, CLAUSES)
def test_findings_agree_with_the_verdict(on, layout, clauses):
    merge = linted(on, layout, clauses)
    found = hits(merge)
    codes = {code for code, _, _ in found}
    always_true = all(condition.cause == "always-true" for condition in merge.judgement.on)
    assert ("P001" in codes) is (merge.judgement.verdict == "none")
    assert "P010" in codes or not always_true
    if merge.judgement.verdict != "none":
        assert not codes & {"P001", "P002", "P006"}
        assert all(severity == "info" for code, severity, _ in found if code == "K001")
        assert not [code for code, severity, _ in found if severity == "error" and code != "P010"]
    spans = Counter(hit.at for code, _, hit in found if code in OF_A_CONJUNCT)
    assert not [span for span, count in spans.items() if count > 1]
    for _, _, hit in found:
        assert isinstance(hit.at, Span)
        assert hit.at.of(merge.statement.text).strip()
        assert hit.message[-1] != "."
        assert hit.hint


@example(
    ["t.dt = s.dt", "date_add(t.dt, 1) = s.dt"],
    TableLayout("delta", COLUMNS, complete=True, partition_by=(partition_field("dt"),)),
    "when matched then delete",
)
@given(st.lists(CONJUNCTS, min_size=2, max_size=3), LAYOUTS, CLAUSES)
def test_the_order_of_the_conditions_does_not_matter(on, layout, clauses):
    def place(code: str, hit: Hit, merge: LintedMerge) -> str:
        if code == "P002" or hit.at == merge.statement.on_span:  # P002 is at the first of several conditions
            return "ON"
        return hit.at.of(merge.statement.text)

    def said(merge: LintedMerge) -> Counter[tuple[str, str]]:
        return Counter((code, place(code, hit, merge)) for code, _, hit in hits(merge))

    assert said(linted(on, layout, clauses)) == said(linted(on[::-1], layout, clauses))
