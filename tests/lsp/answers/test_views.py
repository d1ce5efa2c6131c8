"""The texts that an editor shows of a model, and to where they lead."""

import pytest

from merge_runner.lsp.answers.compiled_view import compiled_view
from merge_runner.lsp.answers.lineage_view import lineage_view
from tests.lsp.cases import cases, opened


@pytest.mark.parametrize("case", cases("views"))
def test_a_view_shows_and_leads_to(case):
    file = opened(case)
    view = (compiled_view if case["view"] == "compiled" else lineage_view)(*file.arguments)

    if "has" not in case:
        assert view is None
        return
    lines = view.text.split("\n")
    assert [each for each in case["has"] if not any(line.startswith(each) for line in lines)] == [], view.text
    assert [each for each in case.get("lacks", []) if each in lines] == []
    found = {link.span.of(view.text): f"{link.place}{' copy' if link.is_copy else ''}" for link in view.links}
    assert {word: found.get(word) for word in case.get("links", {})} == case.get("links", {})
    ends = [0, *(link.span.end for link in view.links)]
    assert all(end <= link.span.start < link.span.end for end, link in zip(ends, view.links, strict=False))


@pytest.mark.parametrize("case", [case for case in cases("views") if case.values[0]["view"] == "compiled"])
def test_a_copy_is_the_authors_text(case):
    file = opened(case)
    view = compiled_view(*file.arguments)
    for link in view.links if view is not None else ():
        if link.is_copy:
            source = file.project.source_text(link.place.path)
            start = source.offset(link.place.line, link.place.column)
            assert source.text[start:].startswith(link.span.of(view.text))
