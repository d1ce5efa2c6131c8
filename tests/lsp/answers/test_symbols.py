"""Symbols, folding and signatures."""

import pytest

from merge_runner.lsp.answers.signature_help import signature_help
from merge_runner.lsp.answers.symbols import document_symbols, folding_ranges, workspace_symbols
from tests.lsp.cases import saved


def names(symbol):
    return (symbol.name, [names(child) for child in symbol.children]) if symbol.children else symbol.name


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("models/facts/fct_flight.sql", [("merge", ["using s", "when matched", "when not matched"])]),
        ("macros/window.sql", ["window_start", "window_end", "in_window", "in_months"]),
    ],
)
def test_a_document_has_symbols(path, found):
    assert [names(each) for each in document_symbols(path, saved().text(path))] == found


def test_symbols_of_yaml_are_what_it_describes():
    text = "version: 2\nmodels:\n  - name: a\n    columns: [{name: x}, {name: y}]\nsources:\n  - name: r\n    tables: [{name: t}]\n"
    found = document_symbols("models/m.yml", text)

    assert [names(each) for each in found] == ["version", ("a", ["x", "y"]), ("r", ["t"])]
    assert [each.kind for each in found] == ["key", "model", "source"]
    assert all(each.name_span.of(text) == each.name for each in found)


@pytest.mark.parametrize(
    "path", ["models/facts/fct_flight.sql", "macros/window.sql", "models/facts/_facts.yml", "pyproject.toml"]
)
def test_a_symbol_holds_its_name_and_its_children(path):
    def check(symbol):
        assert symbol.span.start <= symbol.name_span.start <= symbol.name_span.end <= symbol.span.end
        for child in symbol.children:
            assert symbol.span.start <= child.span.start <= child.span.end <= symbol.span.end
            check(child)

    for each in document_symbols(path, saved().text(path)):
        check(each)


def test_symbols_of_a_project_are_found_by_parts_of_their_names():
    found = workspace_symbols(saved(), "fctfl")

    assert [(each.name, each.kind, str(each.place)) for each in found] == [
        ("fct_flight", "model", "models/facts/fct_flight.sql:1:1")
    ]
    assert {each.kind for each in workspace_symbols(saved(), "")} == {"model", "source", "macro", "test"}


def test_what_has_several_lines_folds():
    text = saved().text("models/facts/fct_flight.sql")
    found = [
        (text.count("\n", 0, span.start) + 1, text.count("\n", 0, span.end) + 1)
        for span in folding_ranges("m.sql", text)
    ]

    assert found == [(1, 4), (7, 34), (8, 32), (9, 26)]


@pytest.mark.parametrize(
    ("text", "label", "active"),
    [
        ("{{ in_window(|", "in_window(column)", 0),
        ("{{ changed(['a', 'b'], |) }}", "changed(columns, target='t', source='s')", 1),
        ("{{ changed(['a'], source='|", "changed(columns, target='t', source='s')", 2),
        ("{{ source('raw', |", "source('source', 'table')", 1),
        ("{{ in_window(ref('|", "ref('model')", 0),
        ("{{ merge_patterns.upsert(ref('a'), |", "upsert(source, keys, columns)", 1),
        ("{{ merge_patterns.upsert(ref('|", "ref('model')", 0),
        ("{{ x(|) }}", None, None),
        ("count(|)", None, None),
    ],
)
def test_a_call_has_a_signature(text, label, active):
    before, _, after = text.partition("|")
    found = signature_help(saved(), before + after, len(before))

    assert (found and found.label, found and found.active) == (label, active)
    assert found is None or all(each in found.label for each in found.parameters)
