"""The built-ins that an editor knows."""

from merge_runner.lsp.names.built_ins import BUILT_INS
from merge_runner.template.templates import _BUILT_INS


def test_all_built_ins_are_documented():
    assert set(BUILT_INS) == _BUILT_INS
