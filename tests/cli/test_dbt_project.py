"""What somebody who comes from dbt sees of a project: the default selector, and what is not read."""

import json

MERGE = "merge into {{ this }} t using (select 1 as id) s on t.id = s.id when not matched then insert *"


def test_the_default_selector_counts_where_nothing_is_selected(make_project, call):
    selectors = """\
        selectors:
          - {name: nightly, default: true, definition: {method: tag, value: nightly, children: true}}
        """
    files = {
        "selectors.yml": selectors,
        "models/a.sql": "{{ config(tags='nightly') }} select 1 as id",
        "models/b.sql": "select * from {{ ref('a') }}",
        "models/c.sql": "select 1 as id",
    }
    root = make_project(files)
    done = call("ls", cwd=root)
    assert (done.stdout, done.returncode) == ("a\nb\n", 0)
    assert done.stderr == ("the default selector nightly of selectors.yml counts; --select '*' takes all nodes\n")
    assert call("ls", "-s", "*", cwd=root).stdout == "a\nc\nb\n"
    assert call("ls", "--exclude", "b", cwd=root).stdout == "a\nc\n"
    assert call("ls", "-q", cwd=root).stderr == ""
    assert json.loads(call("lint", "--format", "json", cwd=root).stdout)["summary"]["models"] == 3
