"""Where names are used."""

import pytest

from merge_runner.lsp.answers.references import references
from tests.lsp.cases import cases, opened, written


@pytest.mark.parametrize("case", cases("references"))
def test_references_are_found(case):
    found = references(*(file := opened(case)).arguments)
    places = [written(file.project, place) for place in found]

    assert places == case["found"] if "found" in case else places[: len(case["first"])] == case["first"], file.text
