import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlglot import exp

from merge_runner.merge.parse import MergeSyntaxError, parse
from merge_runner.merge.statement import Clause, Cte, Expr, MergeStatement, Source, Target
from merge_runner.merge.syntax.lexer import lex

from .corpus import entries, parameters, statement


def relation(text: str, value: Target | Source) -> str:
    is_query = isinstance(value, Source) and value.kind == "query"
    name = value.relation.of(text) if is_query else ".".join(value.parts)
    return name + (f" as {value.alias}" if value.alias else "")


def clause_words(clause: Clause) -> str:
    words = f"{clause.kind} {clause.action}"
    if clause.star:
        words += " *"
    if clause.assignments:
        words += " " + ", ".join(f"{'.'.join(each.column)}={each.value.text}" for each in clause.assignments)
    return words + (f" if {clause.condition.text}" if clause.condition else "")


def cte_words(cte: Cte) -> str:
    return cte.name + (f"({', '.join(cte.columns)})" if cte.columns else "")


def expressions(parsed: MergeStatement) -> list[Expr]:
    found: list[Expr] = [cte.query for cte in parsed.ctes]
    if parsed.source.query is not None:
        found.append(parsed.source.query)
    found += parsed.on
    for clause in parsed.clauses:
        if clause.condition is not None:
            found.append(clause.condition)
        found += [each.value for each in clause.assignments]
    return found


def spans(parsed: MergeStatement) -> list:
    found = [parsed.span, parsed.target.span, parsed.target.relation, parsed.source.span, parsed.source.relation]
    found += [parsed.on_span, *(each.span for each in expressions(parsed)), *(cte.span for cte in parsed.ctes)]
    for clause in parsed.clauses:
        found += [clause.span, *(each.span for each in clause.assignments)]
    return found


def shape(parsed: MergeStatement) -> dict:
    """The statement without its spans and trees."""
    return {
        "target": relation(parsed.text, parsed.target),
        "source": (parsed.source.kind, parsed.source.parts, parsed.source.alias),
        "on": [words_of(each.text) for each in parsed.on],
        "clauses": [
            (
                clause.kind,
                clause.action,
                clause.star,
                clause.condition and words_of(clause.condition.text),
                [(each.column, words_of(each.value.text)) for each in clause.assignments],
            )
            for clause in parsed.clauses
        ],
        "evolution": parsed.schema_evolution,
        "ctes": [cte_words(cte) for cte in parsed.ctes],
        "opaque": [each.expression is None for each in expressions(parsed)],
    }


def words_of(text: str) -> list[str]:
    return [text[token.start : token.end] for token in lex(text)]


@pytest.mark.parametrize("entry", parameters("accept"))
def test_what_spark_accepts_becomes_a_value_of_the_right_shape(entry):
    parsed = parse(statement(entry))
    if "target" in entry:
        assert relation(parsed.text, parsed.target) == entry["target"]
    if "source" in entry:
        assert relation(parsed.text, parsed.source) == entry["source"]
    if "condition" in entry:
        assert [each.text for each in parsed.on] == entry.get("on", [entry["condition"]])
    elif "on" in entry:
        assert [each.text for each in parsed.on] == entry["on"]
    if "query" in entry:
        assert parsed.source.query is not None
        assert parsed.source.query.text == entry["query"]
    if "clauses" in entry:
        assert [clause_words(clause) for clause in parsed.clauses] == entry["clauses"]
    if "class" in entry:
        assert parsed.merge_class == entry["class"]
    if "ctes" in entry:
        assert [cte_words(cte) for cte in parsed.ctes] == entry["ctes"]
    assert parsed.schema_evolution is entry.get("schema_evolution", "SCHEMA EVOLUTION" in parsed.text)
    assert [each.text for each in expressions(parsed) if each.expression is None] == entry.get("opaque", [])
    assert [use.span.of(parsed.text) for use in parsed.forms] == entry.get("forms", [])
    assert {use.form.since for use in parsed.forms} <= {entry.get("since")}
    if "tree" in entry:
        assert type(parsed.source.query.expression).__name__ == entry["tree"]
    if "trees" in entry:
        assert [type(each.expression).__name__ for each in parsed.on] == entry["trees"]
    if "literal" in entry:
        assert [node.this for node in parsed.on[0].expression.find_all(exp.Literal)] == [entry["literal"]]


@pytest.mark.parametrize("entry", parameters("refuse"))
def test_what_spark_refuses_is_an_error_at_the_offending_words(entry):
    text = statement(entry)
    with pytest.raises(MergeSyntaxError) as caught:
        parse(text)
    error = caught.value
    assert entry["message"] in error.message
    assert 0 <= error.span.start <= error.span.end <= len(text)
    if "at" in entry:
        assert error.span.of(text) == entry["at"]
    if "clauses" in entry:
        assert (error.message, error.hint) == (entry["message"], entry.get("hint"))
        assert error.kind == entry.get("kind", "syntax")
    assert not error.message.endswith(".")


@pytest.mark.parametrize("entry", parameters("lenient"))
def test_what_spark_refuses_for_more_than_its_words_is_taken(entry):
    assert parse(statement(entry)).on


@pytest.mark.parametrize("entry", parameters("accept"))
def test_every_text_is_the_slice_at_its_span(entry):
    text = statement(entry)
    parsed = parse(text)
    assert parsed.text == text
    for each in expressions(parsed):
        assert each.span.of(text) == each.text
        assert each.text == each.text.strip()
        assert each.text
    for span in spans(parsed):
        assert parsed.span.start <= span.start <= span.end <= parsed.span.end


@pytest.mark.parametrize("entry", parameters("accept"))
def test_nodes_stand_where_their_positions_say(entry):
    for each in expressions(parse(statement(entry))):
        for node in each.expression.find_all(exp.Identifier) if each.expression else ():
            if "start" in node.meta and node.find_ancestor(exp.Hint) is None:
                word = each.text[node.meta["start"] : node.meta["end"] + 1]
                assert node.name in word.replace("``", "`")


ACCEPTED = [statement(entry) for entry in entries("accept")]
FILLERS = [
    " ",
    "\n",
    "\t",
    "\u00a0",
    " /* a /* ' */ ( */ ",
    " -- c '\n",
    " -- on \\\n and on (\n",
    "\r\n",
    "\f",
    " /**/ ",
]


@given(st.data())
def test_blanks_and_comments_between_tokens_change_nothing_but_spans(data):
    text = data.draw(st.sampled_from(ACCEPTED))
    tokens = lex(text)
    filled = ""
    for before, token in zip([None, *tokens], tokens, strict=False):
        apart = before is not None and before.end == token.start
        filled += "" if apart or before is None else data.draw(st.sampled_from(FILLERS))
        filled += text[token.start : token.end]
    assert shape(parse(filled)) == shape(parse(text))


HOLES = ("{}", "MERGE INTO t USING s ON {} WHEN MATCHED THEN DELETE", "MERGE INTO t USING s ON true {}")


def refusal(text: str) -> MergeSyntaxError | None:
    try:
        parse(text)
    except MergeSyntaxError as error:
        return error
    return None


@given(st.text(max_size=200), st.sampled_from(HOLES))
@example("MERGE INTO t USING s ON\x00", "{}")
@example("merge into ''", "{}")
@example("t.a = :", HOLES[1])
def test_no_text_raises_anything_but_a_syntax_error(text, hole):
    whole = hole.format(text)
    error = refusal(whole)
    assert error is None or 0 <= error.span.start <= error.span.end <= len(whole)


VOCABULARY = """
    MERGE INTO USING ON WHEN NOT MATCHED BY SOURCE TARGET AND OR THEN UPDATE SET INSERT DELETE VALUES CASE END ELSE IN
    IS NULL BETWEEN LIKE INTERVAL DATE CAST AS DISTINCT OVER EXISTS SELECT FROM WITH TABLE IDENTIFIER COLLATE ESCAPE
    t s a b 1 1.5 2L 'x' "y" `z` ( ) [ ] , . * = <> < > + - ! ~ : :: -> => ? | || /*+ */ ; x'' DAY MAP ARRAY STRUCT
"""


@settings(max_examples=3 * settings.default.max_examples)
@given(st.lists(st.sampled_from(sorted(VOCABULARY.split())), max_size=30), st.sampled_from(HOLES))
def test_no_row_of_words_raises_anything_but_a_syntax_error(words, hole):
    whole = hole.format(" ".join(words))
    error = refusal(whole)
    assert error is None or 0 <= error.span.start <= error.span.end <= len(whole)


NAMES = st.sampled_from(["a", "b1", "values", "any", "`x y`", "end", "when", "t.c", "set"])
VALUES = st.sampled_from(
    [
        "1",
        "s.a",
        "'it''s, ok'",
        "CASE WHEN s.a AND s.b THEN 1 ELSE 2 END",
        "f(s.a, 2)",
        "s.m['k']",
        "(1 + 2) * 3",
        "DEFAULT",
    ]
)
CONDITIONS = st.sampled_from(
    [
        "s.a > t.a",
        "s.a BETWEEN 1 AND 2",
        "(s.a OR t.b)",
        "s.x IN (1, 2)",
        "NOT s.gone",
        "CASE WHEN matched THEN a END = 1",
    ]
)


@st.composite
def clause_of(draw, kind, conditional):
    condition = draw(CONDITIONS) if conditional else None
    words = {"matched": "MATCHED", "not_matched": "NOT MATCHED", "not_matched_by_source": "NOT MATCHED BY SOURCE"}[kind]
    text = f"WHEN {words}" + (f" AND {condition}" if condition else "") + " THEN "
    action = "insert" if kind == "not_matched" else draw(st.sampled_from(["update", "delete"]))
    star = action != "delete" and kind != "not_matched_by_source" and draw(st.booleans())
    pairs = [] if star or action == "delete" else draw(st.lists(st.tuples(NAMES, VALUES), min_size=1, max_size=3))
    if action == "delete":
        text += "DELETE"
    elif action == "update":
        text += "UPDATE SET " + ("*" if star else ", ".join(f"{name} = {value}" for name, value in pairs))
    elif star:
        text += "INSERT *"
    else:
        text += f"INSERT ({', '.join(name for name, _ in pairs)}) VALUES ({', '.join(value for _, value in pairs)})"
    return text, (kind, action, star, condition, [value for _, value in pairs])


@st.composite
def merges(draw):
    counts = [draw(st.integers(0, 2)) for _ in range(3)]
    if not any(counts):
        counts[draw(st.integers(0, 2))] = 1
    clauses = [
        draw(clause_of(kind, number < count - 1 or draw(st.booleans())))
        for kind, count in zip(("matched", "not_matched", "not_matched_by_source"), counts, strict=True)
        for number in range(count)
    ]
    on = draw(st.lists(CONDITIONS, min_size=1, max_size=4))
    evolution = draw(st.booleans())
    head = f"MERGE {'WITH SCHEMA EVOLUTION ' if evolution else ''}INTO a.t AS t USING (SELECT * FROM s) s ON "
    return head + " AND ".join(on) + " " + " ".join(text for text, _ in clauses), on, evolution, [c for _, c in clauses]


@given(merges())
def test_a_generated_merge_has_the_generated_shape(merge):
    text, on, evolution, clauses = merge
    parsed = parse(text)
    assert [each.text for each in parsed.on] == on
    assert parsed.schema_evolution is evolution
    assert [
        (c.kind, c.action, c.star, c.condition and c.condition.text, [each.value.text for each in c.assignments])
        for c in parsed.clauses
    ] == clauses


@given(merges())
def test_the_parts_and_what_is_between_them_make_the_text(merge):
    text, *_ = merge
    parsed = parse(text)
    parts = [parsed.target.span, parsed.source.span, parsed.on_span, *(clause.span for clause in parsed.clauses)]
    at, joined = 0, ""
    for span in parts:
        assert span.start >= at
        joined += text[at : span.start] + span.of(text)
        at = span.end
    assert joined + text[at:] == text


@pytest.mark.parametrize(
    "condition",
    [
        "(" * 2000 + "t.a = 1" + ")" * 2000,
        "f(" * 2000 + "1" + ")" * 2000,
        "NOT " * 2000 + "t.a",
        "CASE WHEN " * 2000 + "a" + " THEN 1 END" * 2000,
        "t.a = " + "- " * 2000 + "1",
        "t.x IN (SELECT " * 1000 + "1" + ")" * 1000,
        "t" + "[0]" * 3000 + " = 1",
        "t" + ".a" * 3000 + " = 1",
    ],
    ids=["brackets", "calls", "nots", "cases", "signs", "queries", "subscripts", "dots"],
)
def test_depth_is_no_recursion(condition):
    parsed = parse(f"MERGE INTO t USING s ON {condition} WHEN MATCHED THEN DELETE")
    assert len(parsed.on) == 1


def test_deep_brackets_around_a_query_are_no_recursion():
    with pytest.raises(MergeSyntaxError, match="expected a query"):
        parse(f"MERGE INTO t USING {'(' * 2000}SELECT 1{')' * 2000} s ON true WHEN MATCHED THEN DELETE")


def test_thousands_of_conjuncts_and_assignments_are_read():
    on = " AND ".join(f"t.c{i} = s.c{i}" for i in range(2000))
    sets = ", ".join(f"c{i} = s.c{i}" for i in range(2000))
    parsed = parse(f"MERGE INTO t USING s ON {on} WHEN MATCHED THEN UPDATE SET {sets}")
    assert len(parsed.on) == 2000
    assert len(parsed.clauses[0].assignments) == 2000


def test_a_constructed_name_is_the_table_in_the_tree():
    parsed = parse(
        "MERGE INTO t USING (SELECT * FROM IDENTIFIER('a.b') x) s ON IDENTIFIER('t.c') = truncate(4, s.x) "
        "WHEN MATCHED THEN DELETE"
    )
    table = parsed.source.query.expression.find(exp.Table)
    assert (table.db, table.name, table.alias) == ("a", "b", "x")
    condition = parsed.on[0].expression
    assert (condition.this.table, condition.this.name) == ("t", "c")
    assert isinstance(condition.expression, exp.Anonymous)
    assert [node.name for node in condition.expression.find_all(exp.Column)] == ["x"]


def test_a_bare_table_query_is_read_as_the_table():
    parsed = parse("MERGE INTO t USING (TABLE db.u) s ON true WHEN MATCHED THEN DELETE")
    assert [(table.db, table.name) for table in parsed.source.query.expression.find_all(exp.Table)] == [("db", "u")]


def test_columns_are_qualified_by_the_alias_or_the_last_part_of_the_name():
    parsed = parse("MERGE INTO a.b.c USING x.y AS z ON true WHEN MATCHED THEN DELETE")
    assert parsed.target.qualifier == "c"
    assert parsed.source.qualifier == "z"
