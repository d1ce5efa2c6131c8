"""Expressions with the same text share one tree: nothing that looks at a MERGE may change it."""

from __future__ import annotations

from merge_runner.api import lint_paths
from merge_runner.merge.parse import parse
from tests.merge.corpus import entries, statement


def trees(text):
    """The trees of all conditions and values of a MERGE, and what is noted at their nodes."""
    read = parse(text)
    expressions = [*read.on]
    for clause in read.clauses:
        expressions += [*filter(None, [clause.condition]), *(each.value for each in clause.assignments)]
    found = [each.expression for each in expressions if each.expression is not None]
    return [[(repr(node), dict(node.meta), type(node.parent)) for node in tree.walk()] for tree in found]


def test_lint_does_not_change_them(tmp_path):
    file = tmp_path / "m.sql"
    for entry in list(entries("accept"))[::9]:
        text = statement(entry)
        file.write_text(text, encoding="utf-8")
        before = trees(text)
        lint_paths(file, cache=False, env={})
        assert trees(text) == before, text


def test_two_statements_share_the_tree_of_a_condition_but_no_subquery():
    merge = "merge into t using s on {} when matched then delete"
    plain, subquery = "t.a = s.a and coalesce(t.b, 0) > s.b", "t.a in (select a from u)"
    one, other = (parse(merge.format(f"{plain} and {subquery}")) for _ in range(2))
    same = [mine.expression is its.expression for mine, its in zip(one.on, other.on, strict=True)]
    assert same == [True, True, False]
