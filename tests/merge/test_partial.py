"""Clauses with placeholders: what is read of them, and that the rest is known to be missing."""

from __future__ import annotations

import pytest

from merge_runner.merge.parse import parse

CASES = [
    # the text after USING, the conditions of ON, whether more clauses may follow, of each clause the columns or *, and whether it is partial
    ("on (t.id = s.id) ${x} when matched then delete", True, [((), False)]),
    ("on t.a[0] ${x} when matched then delete", True, [((), False)]),
    ("on t.id = s.id when matched then update set * ${x}", True, [("*", True)]),
    ("on t.id = s.id when matched then update ${x}", False, [((), True)]),
    ("on t.id = s.id when matched then update set ${x}", False, [((), True)]),
    ("on t.id = s.id when matched then update set a = 1, ${x}", False, [(("a",), True)]),
    ("on t.id = s.id when matched then update set ${x}, a = 1, ${y}, b = 2", False, [(("a", "b"), True)]),
    ("on t.id = s.id when matched then update set a = (1) ${x}", True, [(("a",), True)]),
    ("on t.id = s.id when not matched then insert ${x}", False, [((), True)]),
    ("on t.id = s.id when not matched then insert (a, b) ${x}", True, [((), True)]),
    ("on t.id = s.id when not matched then insert (a, b) values ${x}", False, [((), True)]),
    ("on t.id = s.id when not matched then insert (a, b) values ${x} ${y}", True, [((), True)]),
    ("on t.id = s.id when not matched then insert (a, b) values (1, 2) ${x}", True, [(("a", "b"), True)]),
    ("on t.id = s.id when not matched then insert (a, ${x}) values (1, ${y})", False, [(("a",), True)]),
    ("on t.id = s.id when not matched then insert (a, ${x}, b) values (1, 2, ${y})", False, [(("a",), True)]),
    ("on t.id = s.id when not matched then insert (a, b) values (1, 2)", False, [(("a", "b"), False)]),
]


@pytest.mark.parametrize(("text", "more", "clauses"), CASES, ids=[case[0] for case in CASES])
def test_a_clause_with_placeholders(text, more, clauses):
    statement = parse(f"merge into t using s {text}")
    assert statement.more_clauses is more
    read = [
        ("*" if clause.star else tuple(".".join(each.column) for each in clause.assignments), clause.partial)
        for clause in statement.clauses
    ]
    assert read == clauses
