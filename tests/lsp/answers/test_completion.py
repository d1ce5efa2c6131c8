"""What is offered at a cursor."""

import pytest

from merge_runner.lsp.answers.completion import completions
from tests.lsp.cases import cases, opened


@pytest.mark.parametrize("case", cases("completion"))
def test_completions_are_offered(case):
    file = opened(case)
    found = completions(*file.arguments)
    labels = [each.label for each in found]

    assert labels == case.get("all", labels)
    assert set(case.get("has", [])) <= set(labels)
    assert not set(case.get("lacks", [])) & set(labels)
    assert all(each.replaces.start <= file.offset <= each.replaces.end for each in found)
    if "inserts" in case:
        assert found[0].insert or found[0].label == case["inserts"]
