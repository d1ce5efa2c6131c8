import pytest

from merge_runner.merge.parse import MergeSyntaxError, parse

from .corpus import entries, statement

KINDS = {
    "WHEN NOT MATCHED THEN INSERT (a, b) VALUES (1,)": "syntax",
    "WHEN MATCHED THEN DELETE RETURNING t.id": "unsupported",
    "WHEN MATCHED THEN UPDATE SET a = s.a::text": "unsupported",
    "WHEN MATCHED THEN UPDATE SET a = cast(s.a AS varchar)": "unsupported",
    "WHEN MATCHED THEN UPDATE SET a = cast(s.a AS array)": "syntax",
    "WHEN MATCHED AND s.a ~ 'x' THEN DELETE": "unsupported",
    "WHEN MATCHED AND s.a > > 1 THEN DELETE": "syntax",
    "WHEN MATCHED AND s.a ->> 'k' = 1 THEN DELETE": "unsupported",
}


@pytest.mark.parametrize(("clauses", "kind"), KINDS.items())
def test_the_kind_of_a_mistake_in_a_clause(clauses, kind):
    with pytest.raises(MergeSyntaxError) as caught:
        parse(f"MERGE INTO t USING s ON t.id = s.id {clauses}")
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("s VERSION AS OF 1", "unsupported"),
        ("s@v1", "unsupported"),
        ("range(5) s", "unsupported"),
        ("s TABLESAMPLE (5 ROWS)", "unsupported"),
        ("s (a, b)", "unsupported"),
        ("s JOIN u", "unsupported"),
        ("(SELECT DISTINCT ON (id) * FROM s) s", "unsupported"),
        ("s CHANGES FROM VERSION 1", "unsupported"),
        ("(SELECT 1 AS id UNION BY NAME SELECT 2) s", "unsupported"),
        ("SELECT 1", "syntax"),
        ("(s)", "syntax"),
    ],
)
def test_the_kind_of_a_mistake_in_the_source(source, kind):
    with pytest.raises(MergeSyntaxError) as caught:
        parse(f"MERGE INTO t USING {source} ON t.id = s.id WHEN MATCHED THEN DELETE")
    assert caught.value.kind == kind


def test_every_refused_statement_has_one_of_the_kinds():
    kinds = set()
    for entry in entries("refuse"):
        with pytest.raises(MergeSyntaxError) as caught:
            parse(statement(entry))
        kinds.add(caught.value.kind)
    assert kinds == {"syntax", "unreachable", "insert", "unsupported"}
