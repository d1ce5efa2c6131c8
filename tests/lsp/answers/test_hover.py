"""What is shown under a cursor."""

import pytest

from merge_runner.lsp.answers.hover import hover
from tests.lsp.cases import cases, opened


@pytest.mark.parametrize("case", cases("hover"))
def test_a_hover_shows(case):
    file = opened(case)
    found = hover(*file.arguments)

    if "has" not in case:
        assert found is None
        return
    assert found is not None
    assert [part for part in case["has"] if part not in found.markdown] == [], found.markdown
    assert [part for part in case.get("lacks", []) if part in found.markdown] == []
    assert found.span.start <= file.offset <= found.span.end
    assert case.get("on", found.span.of(file.text)) == found.span.of(file.text)
