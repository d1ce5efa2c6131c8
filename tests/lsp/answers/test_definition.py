"""Where definitions are found."""

import pytest

from merge_runner.lsp.answers.definition import definition
from tests.lsp.cases import cases, opened, written


@pytest.mark.parametrize("case", cases("definition"))
def test_a_definition_is_found(case):
    found = definition(*(file := opened(case)).arguments)

    assert [written(file.project, place) for place in found] == case["found"], file.text
