"""`diff` of real projects: with another target, a manifest, an earlier state, a branch and a rebuild."""

import itertools
import json
import shutil
from datetime import datetime, timedelta, timezone

import pytest

from merge_runner import Project
from merge_runner.cli.main import main
from merge_runner.comparison.report import FailedComparison
from merge_runner.formats.lines import installed_line
from merge_runner.pages.runs.history import kept_runs
from merge_runner.run.diff.rebuild import PREFIX
from merge_runner.run.results.event_types import TableCompared
from tests.written_project import write_files

pytestmark = pytest.mark.spark
FORMATS = [name for name in ("delta", "iceberg") if name in installed_line().formats]
NUMBERS = itertools.count()
FCT = """
    {{ config(partition_by=['day'], unique_key=['day', 'id']) }}
    merge into {{ this }} as t using (
        select id, day, cents as amount, mail from {{ ref('orders') }}
        {% if is_incremental() %} where id >= {{ var('from', 0) }} {% endif %}
    ) as s on t.day = s.day and t.id = s.id
    when matched then update set * when not matched then insert *
"""
FILES = {
    "seeds/orders.csv": "id,day,cents,mail\n"
    + "".join(f"{number},2024-01-0{1 + number % 3},{number * 10},m{number}@example.com\n" for number in range(6)),
    "seeds/properties.yml": """
        version: 2
        seeds: [{name: orders, config: {column_types: {id: int, day: date, cents: bigint, mail: string}}}]
    """,
    "models/fct.sql": FCT,
    "models/totals.sql": """
        {{ config(materialized='table') }} select day, sum(amount) as n from {{ ref('fct') }} group by day
    """,
    "models/recent.sql": """
        {{ config(materialized='view') }} select id, amount from {{ ref('fct') }} where day > date'2024-01-01'
    """,
    "models/part.sql": "{{ config(materialized='ephemeral') }} select 1 as one",
    "models/properties.yml": """
        version: 2
        models: [{name: fct, columns: [{name: mail, meta: {sensitive: true}}]}]
    """,
}


@pytest.fixture(params=FORMATS)
def shop(request, make_project, driver):
    """The folder of a project that is built in the targets dev and prod, with another day of one row in prod."""
    prefix = "ice." if request.param == "iceberg" else ""
    number = next(NUMBERS)
    outputs = ", ".join(
        f"{name}: {{master: 'local[2]', schema: {prefix}diff{number}_{name}}}" for name in ("dev", "prod")
    )
    profiles = f"shop: {{target: dev, outputs: {{{outputs}}}}}\n"
    files = {path: text for path, text in FILES.items() if request.param == "delta" or "recent" not in path}
    root = make_project({**files, "profiles.yml": profiles}, table_format=request.param)  # `ice` has no views
    for target in ("dev", "prod"):
        if target == "prod":
            changed = (
                FILES["seeds/orders.csv"].replace("\n4,2024-01-02,40,", "\n4,2024-01-02,41,").replace("\n5,", "\n7,")
            )
            write_files(root, {"seeds/orders.csv": changed})
        assert Project.load(root, target=target, target_path=f"target-{target}").build(driver=driver, lint=False).ok
    write_files(root, {"seeds/orders.csv": FILES["seeds/orders.csv"]})
    return root


def summaries(report):
    """The models of a report with their rows: those of one side alone and changed ones, or why there are none."""
    return {
        model.model: model.message
        if isinstance(model, FailedComparison)
        else (model.rows.only_left, model.rows.only_right, model.rows.changed)
        for model in report.models
    }


def test_two_targets(shop, driver):
    project = Project.load(shop)
    report = project.diff(against="prod", driver=driver)
    views = {"recent": (2, 2, 0)} if (shop / "models/recent.sql").exists() else {}
    assert summaries(report) == {"orders": (2, 2, 0), "fct": (1, 1, 1), "totals": (1, 1, 0)} | views
    fct = next(model for model in report.models if model.model == "fct")
    assert (fct.key, dict(fct.columns)) == (("day", "id"), {"amount": 1})
    assert (fct.left.rpartition("_")[2], fct.right.rpartition("_")[2]) == ("dev.fct", "prod.fct")
    changed, only_left, only_right = fct.examples
    assert (changed.left, changed.right) == ({"amount": 40}, {"amount": 41})
    assert (only_left.left["mail"], only_right.right["mail"]) == ("(sensitive)", "(sensitive)")
    assert "example.com" not in json.dumps(
        next(model for model in report.as_json()["models"] if model["model"] == "fct")
    )
    recorded = project.diff(state=shop / "target-prod", driver=driver)
    assert summaries(recorded) == summaries(report)
    by_key = project.diff("totals", against="prod", key="day", driver=driver)
    assert summaries(by_key) == {"totals": (0, 0, 1)}
    restricted = project.diff("fct", against="prod", where="id < 5", driver=driver, exclude_columns=["AMOUNT"])
    assert summaries(restricted) == {"fct": (0, 0, 0)}
    assert restricted.exit_status == 0


def test_earlier_states(shop, driver):
    project = Project.load(shop, target_path="target-dev")
    with driver.session() as session:
        relation = project.graph.nodes["model.shop.fct"].relation
        version = driver.table_format("iceberg" if relation.catalog else "delta").state(session, relation).version
        built = datetime.now(timezone.utc)
        session.sql(f"delete from {relation} where id = 3")
    assert summaries(project.diff("fct", version=version, driver=driver)) == {"fct": (0, 1, 0)}
    assert summaries(project.diff(timestamp=built, driver=driver))["fct"] == (0, 1, 0)
    long_ago = project.diff("fct", timestamp=built - timedelta(days=1), driver=driver)
    assert "has no version of" in summaries(long_ago)["fct"]
    assert long_ago.exit_status == 2
    missing = project.diff("fct", version=123, driver=driver)
    assert (list(summaries(missing)), missing.exit_status) == (["fct"], 2)
    if relation.catalog is None:
        assert "which has no branches" in project.diff("fct", branch="b", driver=driver).models[0].message
        return
    with driver.session() as session:
        session.sql(f"alter table {relation} create branch b")
        session.sql(f"insert into {relation}.branch_b select 99, day, amount, mail from {relation} limit 1")
    assert summaries(project.diff("fct", branch="b", driver=driver)) == {"fct": (0, 1, 0)}
    assert "has no branch c" in project.diff("fct", branch="c", driver=driver).models[0].message


def test_a_build_compares_what_it_has_written_with_the_version_before(shop, driver):
    write_files(shop, {"seeds/orders.csv": FILES["seeds/orders.csv"].replace("m3@", "new@")})
    write_files(shop, {"models/new.sql": "{{ config(materialized='table') }} select 1 as one"})
    project = Project.load(shop, target_path="target-dev")
    events = []
    with driver.session() as session:
        relation = project.graph.nodes["model.shop.fct"].relation
        session.sql(f"delete from {relation} where id = 5")  # another writer, before the run
    results = project.build(driver=driver, lint=False, diff=True, on_event=events.append)
    assert results.ok
    compared = {event.node.rpartition(".")[2]: event for event in events if isinstance(event, TableCompared)}
    assert set(compared) == {"orders", "fct", "totals"}  # another one is new
    changes = {name: event.difference["rows"] for name, event in compared.items()}
    assert changes["orders"] == {"left": 6, "right": 6, "only_left": 1, "only_right": 1, "changed": 0}
    assert changes["fct"] == {"left": 6, "right": 5, "only_left": 1, "only_right": 0, "changed": 1}
    assert compared["fct"].difference["columns"] == {"mail": 1}
    assert not any(event.difference.get("examples") for event in compared.values())
    record = next(kept_runs(shop / "target-dev")).record
    assert {node["name"]: node["difference"] for node in record["nodes"] if "difference" in node} == {
        name: event.difference for name, event in compared.items()
    }
    unchanged = project.build("fct", driver=driver, lint=False, diff=True, reuse="off", on_event=events.append)
    assert unchanged.ok
    assert [e.message for e in events if isinstance(e, TableCompared)][-1].endswith("equal rows (6)")


def test_a_rebuild_shows_rows_that_an_increment_has_missed(shop, driver, tmp_path):
    project = Project.load(shop)
    assert summaries(project.diff(rebuild=True, driver=driver)) == {"fct": (0, 0, 0), "totals": (0, 0, 0)}
    # A late correction that the next increment does not read; a hook and a guardrail that a rebuild has nothing to do with.
    write_files(
        shop,
        {
            "seeds/orders.csv": FILES["seeds/orders.csv"].replace("\n1,2024-01-02,10,", "\n1,2024-01-02,11,"),
            "models/properties.yml": """
                models: [{name: fct, config: {expect_merge: {max_inserts: 1}, pre_hook: "select raise_error('no')"}}]
            """.replace("                ", ""),
        },
    )
    project = Project.load(shop, vars={"from": 5})
    assert project.seed(driver=driver).ok
    report = project.diff(rebuild=True, driver=driver)
    assert summaries(report) == {"fct": (0, 0, 1), "totals": (0, 0, 0)}
    (example,) = report.models[0].examples
    assert (example.left, example.right) == ({"amount": 10}, {"amount": 11})
    with driver.session() as session:
        catalogs = ("", "in ice") if "iceberg" in installed_line().formats else ("",)
        schemas = [row[0] for where in catalogs for row in session.sql(f"show schemas {where}").collect()]
    assert not [schema for schema in schemas if PREFIX in schema]


def test_what_cannot_be_compared_is_said(shop, driver):
    write_files(shop, {"models/new.sql": "{{ config(materialized='table') }} select 1 as one"})
    project = Project.load(shop)
    report = project.diff(["new", "fct"], against="dev", driver=driver)
    messages = {model.model: model.message for model in report.models}
    assert "has not been built yet" in messages["new"] or "cannot be found" in messages["new"]
    assert "both are the table" in messages["fct"]
    write_files(shop, {"models/fct.sql": FCT.replace("cents as amount", "'x' as amount")})
    refused = Project.load(shop).diff("fct", version=0, key="nothing", driver=driver)
    assert refused.exit_status == 2
    assert report.as_json()["models"][0]["equal"] is None


@pytest.mark.parametrize(
    "options", [[], ["--against", "prod", "--rebuild"], ["--version", "1", "--timestamp", "2024-01-01"]]
)
def test_one_other_state_has_to_be_named(make_project, options, capsys, monkeypatch):
    monkeypatch.chdir(make_project(FILES))
    with pytest.raises(SystemExit) as ended:
        main(["diff", *options])
    assert ended.value.code == 2
    assert "give one of --against, --version, --timestamp, --branch and --rebuild" in capsys.readouterr().err


def test_the_comment_of_a_pull_request(shop, tmp_path, call, capsys):
    ignored = shutil.ignore_patterns("target*")
    base = shutil.copytree(shop, tmp_path / "base", ignore=ignored)
    words = ("--target-path", "target-dev", "--pr", str(base))
    assert call(shop, "diff", *words, "--against", "prod") == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["**merge-runner**: this branch changes no model."]
    (shop / "models/fct.sql").write_text(FCT.replace("cents as amount", "cents + 1 as amount"))
    assert call(shop, "diff", *words) == 0
    text = capsys.readouterr().out
    assert "- changed columns: `amount`\n- reaches " in text and "rows" not in text
    assert call(shop, "diff", *words, "--against", "prod", "--quiet") == 1
    text = capsys.readouterr().out
    assert "- rows: `1 changed, 1 only in " in text and "#### `totals`\n\n- rows: " in text
    assert "(sensitive)" in text and "example.com" not in text
    assert "- last run in this target, predicted: reads " in text
    assert call(shop, "diff", *words, "--version", "123", "-s", "fct", "--quiet") == 2
    assert "for which the log of the job says why: `fct`" in capsys.readouterr().out
