"""`diff --pr`: what the comment of a pull request says of what its branch changes."""

import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from merge_runner import Project
from merge_runner.ci_comment import MARK, marker
from merge_runner.cli.main import main
from merge_runner.comparison.report import DiffReport, Example, FailedComparison, RowCounts, TableDifference
from merge_runner.lint.finding import Finding
from merge_runner.plan.steps.prediction import Prediction
from merge_runner.run.diff.branch_changes import BranchChanges, NodeChange
from merge_runner.run.diff.comment import MOST_BYTES, comment
from merge_runner.text import Place
from tests.written_project import write_project
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_name("comments.yml"))
FILES = {
    "pyproject.toml": """
        [tool.merge-runner]
        name = "shop"
        [tool.merge-runner.vars]
        least = 5
        """,
    "seeds/orders.csv": "id,day,amount\n1,2024-01-02,10\n",
    "seeds/properties.yml": "seeds: [{name: orders, config: {column_types: {id: int, day: date, amount: bigint}}}]\n",
    "models/properties.yml": "models: [{name: fct, config: {partition_by: [day]}}]\n",
    "models/fct.sql": """
        merge into {{ this }} as t using (select id, day, amount from {{ ref('orders') }}) as s
          on t.day >= date'2024-01-01' and t.id = s.id
        when matched then update set * when not matched then insert *
        """,
    "models/recent.sql": """
        {{ config(materialized='view') }} select id, amount from {{ ref('fct') }} where day > date'2024-01-01'
        """,
    "models/part.sql": "{{ config(materialized='ephemeral') }} select id, amount from {{ ref('fct') }}",
    "models/large.sql": """
        {{ config(materialized='table') }} select id, amount from {{ ref('part') }} where amount > {{ var('least') }}
        """,
}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return write_project(tmp_path_factory.mktemp("base") / "shop", "main", FILES)


@pytest.fixture
def branch(base, tmp_path):
    """Copies the base, and changes files of it."""

    def make(files):
        root = shutil.copytree(base, tmp_path / "shop")
        for path, text in files.items():
            if text is None:
                (root / path).unlink()
            else:
                (root / path).parent.mkdir(exist_ok=True)
                (root / path).write_text(text)
        return root

    return make


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_the_comment_says_what_differs(base, branch, case):
    project = Project.load(branch(case["files"]))
    text = comment(project.branch_changes(base, case.get("select", ())))
    assert text == f"{marker('shop')}\n{case['comment']}"


HOSTILE = (
    *("@octocat", "a@b.example", "https://evil.example", "www.evil.example", "<img src=x onerror=y>", "</details>"),
    *(
        "``` ```",
        "`",
        "|",
        "\\`",
        "[a](http://b)",
        "![a](b)",
        "#1",
        "!1",
        "&#64;octocat",
        "<!-- merge-runner diff of  -->",
    ),
    *("\n/close\n", "\n# x\n", "\n```\n", "\r", "\u202e", "\x00", "\u2028", "~~~", "    x", "\t", ""),
)
TEXTS = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=3), max_size=4).map("".join)


@st.composite
def reports(draw):
    """Changes and comparisons in which every text is hostile."""

    def finding():
        return Finding("C001", "n", "error", draw(TEXTS), Place(draw(TEXTS), 1, 1), draw(TEXTS))

    names = draw(st.lists(TEXTS, min_size=1, max_size=3, unique=True))
    columns = st.none() | st.frozensets(TEXTS, max_size=3)
    nodes = [
        NodeChange(
            *(name, frozenset({"body"}), ("static",), ("none",), draw(TEXTS), draw(columns)),
            *({draw(TEXTS): draw(columns)}, (finding(),), Prediction(1, 2, 3, 4.0)),
        )
        for name in names
    ]
    rows = [
        FailedComparison(name, draw(TEXTS))
        if draw(st.booleans())
        else TableDifference(
            *(name, draw(TEXTS), draw(TEXTS), (), RowCounts(3, 3, 1, 0, 1), {draw(TEXTS): 1}),
            examples=(Example("only_left", {}, {draw(TEXTS): draw(TEXTS)}, {}),),
        )
        for name in (*names, draw(TEXTS))
    ]
    return BranchChanges(tuple(nodes), (draw(TEXTS),), (finding(),)), DiffReport(tuple(rows))


SECRETS = [*HOSTILE, "```text", "text", "</summary>", "Rows"]


@given(reports(), st.none() | st.sampled_from([secret for secret in SECRETS if secret]))
def test_no_text_of_the_project_is_read_as_anything_but_text(report, secret):
    text = comment(*report, lambda part: part if secret is None else part.replace(secret, "*****"))
    assert text.startswith(f"{marker('')}\n")
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(text)
    inside = [child for token in tokens for child in token.children or ()]
    kinds = {token.type for token in (*tokens, *inside)} - {"text", "code_inline", "softbreak", "fence", "inline"}
    assert {kind.rpartition("_")[0] for kind in kinds} <= {
        "heading",
        "bullet_list",
        "list_item",
        "paragraph",
        "html",
        "strong",
    }
    html = "".join(token.content for token in (*tokens, *inside) if token.type.startswith("html"))
    ours = re.compile(rf"{marker('')}|</?details( open)?>|<summary>(Rows|Why|1 new finding)</summary>|\s")
    assert ours.sub("", html) == ""
    plain = "".join(child.content for child in inside if child.type == "text")
    assert re.search(r"[@<>#`/]|www", plain) is None, plain


@pytest.mark.parametrize(
    ("many", "length", "heads", "details"),
    [(3, 100, 3, 3), (40, 3_000, 40, 21), (300, 3_000, 61, 0), (1_000, 10, 908, 0)],
)
def test_a_comment_is_never_too_long(many, length, heads, details):
    finding = Finding("C001", "n", "error", "ü" * length, Place("m.sql", 1, 1))
    nodes = [NodeChange(f"m{at}", after=("none",), reason="é" * length, findings=(finding,)) for at in range(many)]
    text = comment(BranchChanges(tuple(nodes)))
    assert len(text.encode()) <= MOST_BYTES
    assert (text.count("#### "), text.count("<details")) == (heads, details)
    assert text.count("</details>") == details
    assert (f"{many - heads} parts, the details of {heads - details} more" in text) == (heads < many or details < heads)


ROWS = """\
<!-- merge-runner diff of  -->
### merge-runner: differences in 2 models

#### `fct` (text)

- verdict: static, as before
- rows: `2 changed (of 9 and 9 rows)`
- last run in this target, predicted: reads 4.8 MiB of its target, rewrites nothing, takes some 2.0 s

<details><summary>Rows</summary>

```text
fct: dev.fct and prod.fct: 2 changed (of 9 and 9 rows)
  changed rows by column: amount 2
```

</details>

#### `agg`

- rows: `2 changed (of 9 and 9 rows)`

<details><summary>Rows</summary>

```text
agg: dev.fct and prod.fct: 2 changed (of 9 and 9 rows)
  changed rows by column: amount 2
```

</details>

Changed without a difference: `dim` (text).

Rows not compared, for which the log of the job says why: `old`.
"""


def test_rows_and_costs():
    different = TableDifference("fct", "dev.fct", "prod.fct", ("id",), RowCounts(9, 9, changed=2), {"amount": 2})
    agg = TableDifference("agg", "dev.fct", "prod.fct", ("id",), RowCounts(9, 9, changed=2), {"amount": 2})
    equal = TableDifference("dim", "dev.dim", "prod.dim", ("id",), RowCounts(3, 3))
    rows = DiffReport((different, equal, agg, FailedComparison("old", "dev.old is not built")))
    body = frozenset({"body"})
    cost = Prediction(3, 5_000_000, 0, 2.0)
    changes = BranchChanges(
        (NodeChange("dim", body, columns=None), NodeChange("fct", body, ("static",), ("static",), cost=cost))
    )
    assert comment(changes, rows) == ROWS


@pytest.mark.parametrize(
    "declared", ["meta: {sensitive: true}", "tags: [sensitive]", "config: {tags: [pii, sensitive]}"]
)
def test_what_the_base_calls_sensitive_stays_hidden(base, tmp_path, declared):
    shutil.copytree(base, tmp_path / "base")
    (tmp_path / "base/models/properties.yml").write_text(
        f"models: [{{name: fct, columns: [{{name: Amount, {declared}}}]}}]"
    )
    changes = Project.load(base).branch_changes(tmp_path / "base")
    rows = (
        Example("changed", {"id": 1}, {"amount": 31415}, {"amount": 27182}),
        Example("only_left", {"amount": 31415}, {"id": 16180}, {}),
    )
    table = TableDifference("fct", "dev.fct", "prod.fct", (), RowCounts(9, 9, 1, 0, 1), {"amount": 1}, examples=rows)
    text = comment(changes, DiffReport((table,)))
    assert "(sensitive)" in text and "changed rows by column: amount 1" in text and "16180" in text
    assert "31415" not in text and "27182" not in text


HOOK = "models: [{name: fct, config: {partition_by: [day], post_hook: update x set a = 1}}]\n"


def test_a_hook_that_is_gone_may_have_changed_all_columns(branch, base, tmp_path):
    shutil.copytree(base, tmp_path / "base")
    (tmp_path / "base/models/properties.yml").write_text(HOOK)
    changes = Project.load(base).branch_changes(tmp_path / "base")
    (fct,) = [node for node in changes.nodes if node.name == "fct"]
    assert fct.columns is None
    assert "model.shop.recent" not in changes.compared or "model.shop.fct" in changes.compared


def test_a_source_has_no_verdict_of_a_model_of_its_name(base, tmp_path):
    shutil.copytree(base, tmp_path / "branch")
    source = "sources: [{name: raw, tables: [{name: fct, description: NEW, columns: [{name: id}]}]}]\n"
    (tmp_path / "branch/models/sources.yml").write_text(source)
    (tmp_path / "branch/models/fct.sql").write_text(
        FILES["models/fct.sql"].replace("t.day >= date'2024-01-01' and ", "")
    )
    changes = Project.load(tmp_path / "branch").branch_changes(base)
    assert {node.name: (node.before, node.after) for node in changes.nodes if "raw" in node.name} in (
        {},
        {"raw.fct": ((), ())},
    )
    assert [node.after for node in changes.nodes if node.name == "fct"] == [("none",)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--pr", "BASE", "--output", "json"], "leave out --output json"),
        (["--pr", "none"], "in the base"),
        (["--pr", "BASE"], ""),
    ],
)
def test_the_command(base, branch, words, message, capsys):
    root = branch({})
    with pytest.raises(SystemExit) as end:
        main(["diff", "--project-dir", str(root), *(str(base) if word == "BASE" else word for word in words)])
    out, err = capsys.readouterr()
    assert message in err
    assert (end.value.code, out.startswith(MARK)) == ((2, False) if message else (0, True))
