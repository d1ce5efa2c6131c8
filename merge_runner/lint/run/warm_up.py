"""Loads what looks at models while another process loads the project, so that forks inherit it later."""

from __future__ import annotations

from importlib import import_module

from merge_runner.merge.sqlglot_import import import_sqlglot

_MERGE = """merge into t using (select s.id, s.at from s where s.at >= date'2024-01-01') as s on t.id = s.id
when matched and s.at > t.at then update set * when not matched then insert *"""
_MODULES = ("merge_runner.lint.run.lint_project", "merge_runner.lint.context", "merge_runner.template.rendering")


def load_analysis() -> None:
    """Import the modules of rules, of the analysis and of Jinja, and judge a MERGE: that loads sqlglot's dialect."""
    import_sqlglot()
    for module in _MODULES:
        import_module(module)
    from merge_runner.lint.registry import built_in_rules
    from merge_runner.merge.parse import parse
    from merge_runner.pruning.judge.merge_analysis import judge_merge
    from merge_runner.pruning.layout.layout import UNKNOWN

    built_in_rules()
    judge_merge(parse(_MERGE), UNKNOWN, lambda _parts: None)
