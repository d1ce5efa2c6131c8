"""Statements of a template, where it may only read."""

import pytest

from merge_runner.engine.operation import Statements
from merge_runner.template.outcome import RefusedError


def test_a_statement_that_may_write_is_refused_before_the_engine_has_it():
    statements = Statements(None, None, on_log=lambda _log: None, queries_only=True)
    with pytest.raises(RefusedError, match="a template executes a statement that may write"):
        statements.run("delete from shop.fct")
    assert statements.count == 0
