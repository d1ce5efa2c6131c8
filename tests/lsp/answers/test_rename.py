"""Renames, and the reasons not to."""

from collections import Counter

import pytest

from merge_runner.lsp.answers.rename import RefusedRenameError, rename
from tests.lsp.cases import cases, opened


@pytest.mark.parametrize("case", cases("rename"))
def test_a_name_is_renamed_everywhere_or_not_at_all(case):
    file = opened(case)
    if "refused" in case:
        with pytest.raises(RefusedRenameError) as refused:
            rename(*file.arguments, case["to"])
        assert case["refused"] in str(refused.value)
        return
    found = rename(*file.arguments, case["to"])

    assert dict(Counter(each.path for each in found.occurrences)) == case["edits"]
    assert (found.moved and found.moved[1]) == case.get("moved")
