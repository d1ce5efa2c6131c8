"""A mistake in a macro is one finding at the macro, whoever calls it, and no other finding follows from it."""

from __future__ import annotations

import pytest

from merge_runner.api import Project
from merge_runner.errors import ProblemsError
from merge_runner.lint.run.lint_project import lint_project
from merge_runner.plan.load.flags import Flags
from merge_runner.plan.load.project_context import prepare_to_lint

CALL = "{{ config(scan='full') }}\nselect * from {{ dedupe('x') }} as s"


def findings(root, env=None):
    prepared, problems = prepare_to_lint(root, Flags(), env or {})
    return [
        f"{found.place} {found.message}; {found.hint}"
        for found in lint_project(prepared, prepared.graph.nodes, jinja=problems).findings
    ]


def test_a_macro_file_that_cannot_be_read_is_one_finding(make_project):
    root = make_project(
        {
            "macros/dedupe.sql": "{% macro dedupe(rows) %}\n(select * from {{ rows }})\n{% endmacr %}\n",
            "models/a.sql": CALL,
            "models/b.sql": CALL,
            "models/c.sql": "select * from {{ ref('a') }} join {{ ref('b') }} using (id)",
        }
    )
    message = "{% endmacr %} is inside {% macro %} of line 1, which is not closed: {% endmacro %} is missing"
    assert findings(root) == [f"macros/dedupe.sql:3:4 {message}; None"]
    with pytest.raises(ProblemsError) as caught:
        Project.load(root)
    assert str(caught.value) == f"macros/dedupe.sql:3:4: {message} [jinja-syntax]"


def test_a_broken_macro_file_that_no_model_uses_is_a_finding(make_project):
    root = make_project(
        {
            "macros/unused.sql": "{% macro unused() %}\nselect 1\n{% endif %}\n",
            "macros/other.sql": "{% macro other() %}{{ 1 +* 2 }}{% endmacro %}\n",
            "models/a.sql": "select 1 as id",
        }
    )
    message = "{% endif %} is inside {% macro %} of line 1, which is not closed: {% endmacro %} is missing"
    assert findings(root) == [
        "macros/other.sql:1:26 unexpected '*'; None",
        f"macros/unused.sql:3:4 {message}; None",
    ]


def test_what_goes_wrong_in_a_macro_names_the_first_calls(make_project):
    root = make_project(
        {
            "macros/dedupe.sql": "{% macro dedupe(rows) %}\n(select * from {{ rosw }})\n{% endmacro %}\n",
            **{f"models/{name}.sql": CALL for name in "ab"},
            "models/c.sql": "{{ config(post_hook='{{ dedupe(1) }}') }}\nselect 1 as id",
        }
    )
    place = "macros/dedupe.sql:2:19"
    assert findings(root) == [
        f'{place} "rosw" is not defined; did you mean "rows"? called at models/a.sql:2:18, and by 2 more calls'
    ]
    (root / "models/a.sql").unlink()
    (root / "models/b.sql").unlink()
    assert findings(root) == [f'{place} "rosw" is not defined; did you mean "rows"? called at models/c.sql:1:11']
