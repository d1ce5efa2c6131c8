"""The models of a dbt project, with the manifests and statements that dbt 1.11 and dbt-spark 1.11 wrote for it.

`parse` is what `dbt parse` leaves, `first` and `second` what the first and the second `dbt run` do.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from merge_runner.errors import Problems, ProblemsError
from merge_runner.lint.dbt.merge import Unknown
from merge_runner.lint.dbt.project import read_dbt_project
from merge_runner.lint.outputs.summary import summary
from merge_runner.lint.run.lint_files import Surroundings, lint_files
from merge_runner.lint.run.lint_project import LintOptions
from merge_runner.lint.run.plain_files import plain_files
from merge_runner.project.schema.settings import LintSettings
from merge_runner.text import SourceText

SHOP = Path(__file__).parent / "dbt_shop"
ALL = ["events", "nokey", "orders", "other_columns", "payments", "some_columns"]


@pytest.fixture
def shop(tmp_path):
    """Makes the project after one of the commands, with other values in its manifest by model."""

    def make(after, adapter="spark", macros=None, **models):
        root = tmp_path / "shop"
        shutil.copytree(SHOP / "project", root, dirs_exist_ok=True)
        shutil.rmtree(root / "target", ignore_errors=True)
        shutil.copytree(SHOP / after, root / "target")
        file = root / "target/manifest.json"
        manifest = json.loads(file.read_text())
        manifest["metadata"]["adapter_type"] = adapter
        manifest["macros"].update(macros or {})
        for name, config in models.items():
            manifest["nodes"][f"model.shop.{name}"]["config"].update(config)
        file.write_text(json.dumps(manifest))
        return root

    return make


def lint(root, *paths, **settings):
    around = Surroundings(root, LintSettings(**settings))
    return lint_files(list(plain_files([root / path for path in paths or ["."]], root)), LintOptions(), {}, around)


def found(report, root, *codes):
    """What findings there are, each with the text that its place covers."""
    lines = []
    for finding in report.findings:
        place = finding.place
        if not codes or finding.code in codes:
            source = SourceText(place.path, (root / place.path).read_text())
            text = source.text[
                source.offset(place.line, place.column) : source.offset(place.end_line, place.end_column)
            ]
            lines.append((finding.code, finding.model, place.path, place.line, " ".join(text.split())))
    return lines


PREDICATE = "DBT_INTERNAL_DEST.dt >= date'2024-01-01'"
ONE_SIDED = ("C001", "events", "models/marts/schema.yml", 8, PREDICATE)


def test_the_merge_of_a_model_is_the_one_that_dbt_spark_writes():
    first, second = (read_dbt_project(SHOP / run, Problems()) for run in ("first", "second"))
    checked = []
    for path, node in first.files.items():
        if node.merges:
            written = (SHOP / "second/run" / path).read_text().partition("merge into")
            assert f"merge into{written[2]}".split() == first.next_merge(node).split()
            assert first.last_merge(node) is None
            assert second.last_merge(second.files[path]) is not None
            checked.append(node.name)
    assert sorted(checked) == ALL


@pytest.mark.parametrize("run", ["parse", "first", "second"])
def test_what_is_known_after_each_command(shop, run):
    root = shop(run)
    report = lint(root)
    assert found(report, root, "C001", "C010") == [ONE_SIDED]
    assert [merge.model for merge in report.merges] == ALL
    assert report.not_judged == ()
    assert report.files == 8
    assert {merge.path for merge in report.merges} <= {f"models/marts/{name}.sql" for name in ALL}


def template(root, name, raw_code, **others):
    """Give a model another template, as `dbt parse` leaves it; `others` are keys of its node."""
    file = root / "target/manifest.json"
    manifest = json.loads(file.read_text())
    node = manifest["nodes"][f"model.shop.{name}"]
    node.update({"raw_code": raw_code, "compiled_code": None, **others})
    file.write_text(json.dumps(manifest))
    (root / node["original_file_path"]).write_text(raw_code)


RULES = ("C001", "C002", "C003")
FIRST = "select id, dt, amount from {{ ref('stg_orders') }}"
WINDOW = "dt >= date'2024-01-01'"


@pytest.mark.parametrize("run", ["parse", "first", "second"])
def test_the_incremental_branch_of_a_template_is_judged(shop, run):
    root = shop(run, orders={"incremental_predicates": ["DBT_INTERNAL_DEST.dt >= date'2030-01-01'"]})
    report = lint(root, "models/marts/orders.sql")
    assert report.not_judged == ()
    assert found(report, root, "C001") == []  # what max(dt) is, only the table knows
    project = read_dbt_project(SHOP / run, Problems())
    nodes = {node.name: node for node in project.nodes.values()}
    assert "select max(dt) - interval 3 days from shop.orders" in project.next_rows(nodes["orders"])


@pytest.mark.parametrize(
    ("query", "codes"),
    [
        (FIRST, ["C001"]),
        (f"{FIRST} where {WINDOW}", []),
        (f"{FIRST} {{% if is_incremental() %}}where {WINDOW}{{% endif %}}", []),
        (f"{FIRST} {{% if not is_incremental() %}}where {WINDOW}{{% endif %}}", ["C001"]),
        (f"{FIRST} {{% set since = '2024-02-01' %}}where dt >= date'{{{{ since }}}}'", []),
        (f"{FIRST} {{% for each in range(2) %}}{{% if loop.first %}}where {WINDOW}{{% endif %}}{{% endfor %}}", []),
        (f"{FIRST} -- {{{{ config(tags=[var('tag')]) }}}}\nwhere {WINDOW}", []),
        (f"{FIRST} where dt > (select max(dt) from {{{{ this }}}})", []),
    ],
)
def test_a_template_of_known_names_is_judged_after_parse(shop, query, codes):
    root = shop("parse")
    template(root, "payments", "{{ config(materialized='incremental') }}\n" + query)
    report = lint(root, "models/marts/payments.sql")
    assert [finding.code for finding in report.findings if finding.code == "C001"] == codes
    assert report.not_judged == ()


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (f"{FIRST} where dt >= '{{{{ var('since') }}}}'", "its template uses `var`"),
        (f"{FIRST} where dt >= '{{{{ var('since', '2024-01-01') }}}}'", "its template uses `var`"),
        (f"{FIRST} {{% if target.name is defined %}}where {WINDOW}{{% endif %}}", "its template uses `target`"),
        (f"{FIRST} where dt >= '{{{{ env_var('SINCE', '') }}}}'", "its template uses `env_var`"),
        (f"select {{{{ dbt_utils.star(ref('stg_orders')) }}}} from x where {WINDOW}", "its template uses `dbt_utils`"),
        (f"{FIRST} where dt >= {{{{ '2024' | as_text }}}}", "lint cannot read its template"),
        (f"{FIRST} where dt >= {{{{ this.days }}}}", "days"),
        ("select * from {{ ref('of_another') }}", "ref('of_another') is no table or view"),
        ("select * from {{ source('raw', 'of_another') }}", "source('raw', 'of_another') is no table or view"),
        ("", "the manifest has no template of it"),
    ],
)
def test_a_template_that_only_dbt_can_render_is_not_judged(shop, query, reason):
    root = shop("parse", payments={"unique_key": ["id", "dt"]})
    template(root, "payments", query)
    report = lint(root, "models/marts/payments.sql")
    (item,) = report.not_judged
    assert (item.model, item.place.path, item.rules) == ("payments", "models/marts/payments.sql", RULES)
    assert reason in item.reason
    assert not {finding.code for finding in report.findings} & set(RULES)
    assert "C001, C002 and C003 not judged for 1 model" in summary(report)
    assert "All clear" not in summary(report)
    assert lint(root, "models/marts/payments.sql", ignore=("C",)).not_judged == ()


@pytest.mark.parametrize(
    ("query", "codes", "reason"),
    [
        (f"select * from {{{{ ref('raw_orders') }}}} where {WINDOW}", [], None),
        ("select * from {{ ref('raw_orders') }}", ["C001"], None),
        ("select * from {{ ref('raw_orders') }} where {{ var('w') }}", [], "the query of the view stg_orders"),
        ("select * from {{ ref('raw_orders') }} where {{ is_incremental() }}", [], "the query of the view stg_orders"),
    ],
)
def test_a_query_is_known_where_the_views_that_it_reads_are(shop, query, codes, reason):
    """A filter in a view makes the difference between C001 and none."""
    root = shop("parse")
    template(root, "payments", FIRST)
    template(root, "stg_orders", "{{ config(materialized='view') }}\n" + query)
    report = lint(root, "models/marts/payments.sql")
    assert [finding.code for finding in report.findings if finding.code == "C001"] == codes
    reasons = [item.reason for item in report.not_judged]
    assert reasons == [] if reason is None else reason in reasons[0]


def test_a_project_that_overrides_ref_is_not_judged(shop):
    root = shop("parse", macros={"macro.shop.ref": {"name": "ref", "package_name": "shop"}})
    (item,) = lint(root, "models/marts/payments.sql").not_judged
    assert item.reason == "the project overrides ref"


def test_which_command_of_dbt_makes_the_query_known(shop):
    root = shop("parse")
    template(root, "payments", f"{FIRST} where dt >= '{{{{ var('since') }}}}'")
    (item,) = lint(root, "models/marts/payments.sql").not_judged
    assert item.hint == "run `dbt compile`, and lint again"
    template(root, "payments", f"{FIRST} {{% if is_incremental() %}}where {{{{ var('since') }}}}{{% endif %}}")
    (item,) = lint(root, "models/marts/payments.sql").not_judged
    assert item.hint == "run `dbt run` twice: the second run compiles the incremental query, and lint again"


def test_columns_that_a_query_does_not_name_leave_the_merge_unknown(shop):
    """merge_exclude_columns needs them. That is no error: `dbt compile` makes them known."""
    root = shop("parse")
    template(root, "other_columns", "select *, {{ dbt_utils.star() }} from {{ ref('stg_orders') }}")
    report = lint(root, "models/marts/other_columns.sql")
    (item,) = report.not_judged
    assert (item.place.path, item.rules) == ("models/marts/other_columns.sql", ())
    assert item.reason == "merge_exclude_columns depends on the columns of the table"
    assert report.findings == report.merges == ()
    assert summary(report) == "No findings: no merge judged in 1 model; MERGE not judged for 1 model"


def test_without_a_key_dbt_appends_and_never_updates(shop):
    root = shop("parse", nokey={"merge_update_columns": ["dt"]})
    (finding,) = [each for each in lint(root, "models/marts/nokey.sql").findings if each.code == "C004"]
    assert (finding.severity, finding.place.path) == ("error", "models/marts/nokey.sql")
    assert "WHEN MATCHED never applies, and each run inserts all rows of the source again" in finding.message
    assert "set unique_key" in finding.hint
    assert "incremental_strategy: append" in finding.hint


@pytest.mark.parametrize(
    ("config", "settings", "severity"),
    [
        ({}, {}, "warning"),
        ({"merge_update_columns": ["dt"]}, {}, "error"),
        ({"incremental_strategy": "merge"}, {}, "error"),
        ({}, {"severity": {"C004": "error"}}, "error"),
    ],
)
def test_an_append_by_the_adapters_default_is_a_warning(shop, config, settings, severity):
    root = shop("second", adapter="databricks", nokey={"incremental_strategy": None, **config})
    (finding,) = [each for each in lint(root, "target/run", **settings).findings if each.code == "C004"]
    assert (finding.model, finding.severity) == ("nokey", severity)


def test_a_query_that_was_compiled_before_the_model_changed_is_not_known(shop):
    """`dbt parse` keeps target/compiled as it was, and its manifest has no queries: the template is read then."""
    root = shop("parse")
    shutil.copytree(SHOP / "first/run", root / "target/run")
    compiled = root / "target/compiled/shop/models/marts/payments.sql"
    compiled.parent.mkdir(parents=True)
    compiled.write_text("select id, dt, amount from shop.stg_orders")
    file, path = root / "models/marts/payments.sql", "models/marts/payments.sql"
    for changed, expected in ((-10, ["C001", "C003"]), (10, ["C003"])):
        os.utime(file, (compiled.stat().st_mtime + changed,) * 2)
        assert [finding.code for finding in lint(root, path).findings if finding.code in ("C001", "C003")] == expected


@pytest.mark.parametrize(
    ("path", "models"),
    [
        (".", ALL),
        ("models", ALL),
        ("dbt_project.yml", ALL),
        ("target", ALL),
        ("target/run", ALL),
        ("models/marts/events.sql", ["events"]),
        ("target/run/shop/models/marts/events.sql", ["events"]),
        ("models/marts/schema.yml", ["events", "some_columns"]),
        ("models/stg_orders.sql", []),
        ("profiles.yml", []),
    ],
)
def test_paths_of_a_dbt_project(shop, path, models):
    root = shop("second")
    (root / "profiles.yml").write_text("")
    assert [merge.model for merge in lint(root, path).merges] == models


def test_target_run_is_what_dbt_ran_and_the_models_are_what_it_will_run(shop):
    root = shop("second", payments={"incremental_predicates": ["DBT_INTERNAL_DEST.id > 5"]})
    (ran,) = lint(root, "target/run/shop/models/marts/payments.sql").merges
    (next_,) = lint(root, "models/marts/payments.sql").merges
    assert (ran.conjuncts[0].text, next_.conjuncts[0].text) == (PREDICATE, "DBT_INTERNAL_DEST.id > 5")


@pytest.mark.parametrize("qualifier", ["target", "t", "dest", "payments", "shop.payments", "DBT_INTERNAL_DST"])
def test_a_condition_that_does_not_use_dbts_alias(qualifier, shop):
    condition = f"{qualifier}.dt >= date'2030-01-01'"
    report = lint(shop("parse", payments={"incremental_predicates": [condition]}))
    wrong = [each for each in report.findings if each.model == "payments" and each.code == "C012"]
    assert [each.message for each in wrong] == [f"{qualifier} is neither DBT_INTERNAL_DEST nor DBT_INTERNAL_SOURCE"]


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        ("dt >= date'2030-01-01'", 'both target and source have a column "dt"'),
        ("AMOUNT > 5", 'both target and source have a column "AMOUNT"'),
        ("dtt >= date'2030-01-01'", 'neither target nor source has a column "dtt"'),
        ("DBT_INTERNAL_DEST.dtt >= date'2030-01-01'", 'the target has no column "dtt"'),
        ("dbt_internal_dest.`day` = current_date()", 'the target has no column "day"'),
        ("DBT_INTERNAL_SOURCE.dtt >= date'2030-01-01'", 'the source has no column "dtt"'),
        ("DBT_INTERNAL_DEST.dt >= date'2030-01-01'", None),
        ("current_date() > date'2030-01-01'", None),
    ],
)
def test_columns_of_a_condition_are_those_that_dbt_creates_the_table_of(condition, message, shop):
    root = shop("parse", payments={"incremental_predicates": [condition]})
    findings = [each for each in lint(root, "models/marts/payments.sql").findings if each.code == "C009"]
    assert [each.message for each in findings] == ([] if message is None else [message])


@pytest.mark.parametrize(
    ("config", "query"),
    [
        ({"on_schema_change": "append_new_columns"}, FIRST),  # the table keeps columns that the query no longer has
        ({"merge_with_schema_evolution": True}, FIRST),
        ({"tblproperties": {}, "pre-hook": ["set spark.databricks.delta.schema.autoMerge.enabled = true"]}, FIRST),
        ({}, "select * from {{ source('raw', 'orders') }}"),
        ({}, "select id, dt, amount from x where day >= '{{ var('since') }}'"),
    ],
)
def test_a_table_that_may_have_more_columns_than_the_query(config, query, shop):
    root = shop("parse", payments={"incremental_predicates": ["DBT_INTERNAL_DEST.old = 1"], **config})
    template(root, "payments", query)
    assert [each for each in lint(root, "models/marts/payments.sql").findings if each.code == "C009"] == []


def test_an_unqualified_name_that_the_table_alone_may_have(shop):
    root = shop("parse", payments={"incremental_predicates": ["old = 1"], "on_schema_change": "append_new_columns"})
    template(root, "payments", FIRST)
    assert [each for each in lint(root, "models/marts/payments.sql").findings if each.code == "C009"] == []


def test_places_are_those_of_the_config_and_the_query(shop):
    late = "DBT_INTERNAL_DEST.dt >= date'2030-01-01'"
    root = shop("second", payments={"incremental_predicates": [late]}, some_columns={"meta": {}})
    file = root / "models/marts/payments.sql"
    file.write_text("-- é\n" + file.read_text().replace(PREDICATE, late))
    report = lint(root, "models/marts/payments.sql", "models/marts/some_columns.sql")
    assert found(report, root, "C001", "C003", "P001") == [
        ("C001", "payments", "models/marts/payments.sql", 6, late),
        ("C003", "payments", "models/marts/payments.sql", 9, "select id, dt, max(amount) as amount"),
        ("P001", "some_columns", "models/marts/some_columns.sql", 1, "'id'"),
        (
            "C003",
            "some_columns",
            "models/marts/some_columns.sql",
            2,
            "select distinct id, dt, amount from {{ ref('stg_orders') }}",
        ),
    ]
    (one, *_), _ = (merge.conjuncts for merge in report.merges)
    assert (one.line, one.column) == (6, 30)


def test_help_speaks_of_the_config(shop):
    root = shop("second", payments={"incremental_predicates": None, "unique_key": ["dt"]}, nokey={"unique_key": "id"})
    hints = {finding.code: finding.hint for finding in lint(root, "models/marts/payments.sql").findings}
    assert "incremental_predicates (DBT_INTERNAL_DEST.dt >= …)" in hints["P002"]
    assert "meta: {merge_runner: {scan: full}}" in hints["P002"]
    assert all(finding.fix is None for finding in lint(root).findings)


def test_settings_comments_and_a_baseline_apply_to_the_models_file(shop):
    root = shop("second", payments={"incremental_predicates": None})
    path = "models/marts/payments.sql"
    codes = {finding.code for finding in lint(root, path).findings}
    assert {"K001", "C003"} <= codes
    ignored = lint(root, path, per_path_ignores={"models/marts/**": ("K001",)}, severity={"C003": "error"})
    assert {(finding.code, finding.severity) for finding in ignored.findings} >= {("C003", "error")}
    assert "K001" not in {finding.code for finding in ignored.findings}
    file = root / path
    file.write_text("-- merge-runner: noqa: K001 -- small\n" + file.read_text())
    assert {finding.code for finding in lint(root, path).findings} == codes - {"K001"}


def test_a_whole_scan_is_declared_in_meta(shop):
    root = shop("second")
    merges = {merge.model: merge for merge in lint(root).merges}
    assert (merges["some_columns"].verdict, merges["some_columns"].scans_all_on_purpose) == ("none", True)
    assert "P001" not in {finding.code for finding in lint(root, "models/marts/some_columns.sql").findings}


@pytest.mark.parametrize("meta", [{"scan": "ful"}, {"scann": "full"}, "full", ["scan"]])
def test_a_wrong_meta_is_a_problem_at_its_place(shop, meta):
    root = shop("second", some_columns={"meta": {"merge_runner": meta}})
    with pytest.raises(ProblemsError) as caught:
        lint(root)
    (problem,) = caught.value.problems
    assert (problem.place.path, problem.place.line) == ("models/marts/schema.yml", 14)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        (
            {"merge_exclude_columns": ["dt"], "merge_update_columns": ["amount"]},
            "merge_exclude_columns must be a list of columns, without merge_update_columns",
        ),
        ({"incremental_predicates": "a = b"}, "incremental_predicates must be a list of strings"),
        ({"unique_key": {"a": "b"}}, "unique_key and merge_update_columns must be columns"),
        ({"file_format": "parquet"}, "dbt-spark merges into delta, iceberg and hudi"),
        ({"incremental_strategy": "append"}, ""),
        ({"materialized": "table"}, ""),
    ],
)
def test_a_config_of_which_dbt_spark_makes_something_else(shop, changed, why):
    project = read_dbt_project(shop("parse", payments=changed) / "target", Problems())
    node = project.files["shop/models/marts/payments.sql"]
    assert project.next_merge(node) == Unknown(why)


def test_a_project_that_overrides_dbts_macros_is_not_guessed(shop):
    macros = {"macro.shop.spark__get_merge_sql": {"name": "spark__get_merge_sql", "package_name": "shop"}}
    root = shop("first", macros=macros)
    (finding,) = [finding for finding in lint(root).findings if finding.code == "C010"]
    assert "the MERGE of 6 incremental models is not known yet" in finding.message
    assert "events (the project overrides spark__get_merge_sql)" in finding.message


def test_a_first_run_of_another_adapter_is_an_error_and_a_second_is_linted(shop):
    first = lint(shop("first", adapter="databricks"), "target/run")
    assert [finding.code for finding in first.findings] == ["C010"]
    # dbt-databricks merges where no strategy is set.
    assert "7 incremental models" in first.findings[0].message
    assert "run `dbt run` a second time" in first.findings[0].hint
    assert first.merges == ()
    second = lint(shop("second", adapter="databricks", appended={"incremental_strategy": "append"}), "target/run")
    assert len(second.merges) == 6
    assert "C010" not in {finding.code for finding in second.findings}


def test_without_the_models_files_the_manifest_has_their_text(shop):
    root = shop("second")
    shutil.rmtree(root / "models")
    report = lint(root, "target/run")
    assert {merge.path for merge in report.merges if merge.model == "events"} == {"models/marts/events.sql"}
    assert [finding.place.path for finding in report.findings if finding.code == "C001"] == ["models/marts/events.sql"]


def test_models_of_a_project_that_dbt_has_not_parsed(shop):
    root = shop("parse")
    (root / "target/manifest.json").unlink()
    for path in (".", "models", "models/marts/events.sql"):
        with pytest.raises(ProblemsError, match=r"dbt project without target/manifest\.json"):
            lint(root, path)
    (root / "analyses").mkdir()
    (root / "analyses/by_hand.sql").write_text("merge into t using s on t.id = s.id when matched then delete")
    assert len(lint(root, "analyses/by_hand.sql").merges) == 1


def test_a_snapshot_is_linted_by_what_dbt_ran_and_its_first_run_is_no_error(shop):
    root = shop("second")
    file = root / "target/manifest.json"
    manifest = json.loads(file.read_text())
    manifest["nodes"]["snapshot.shop.history"] = {
        **{"resource_type": "snapshot", "name": "history", "alias": "history", "package_name": "shop"},
        **{"original_file_path": "snapshots/history.sql", "relation_name": "shop.history"},
        "config": {"materialized": "snapshot", "unique_key": "id", "file_format": "delta"},
    }
    file.write_text(json.dumps(manifest))
    snapshot = root / "snapshots/history.sql"
    snapshot.parent.mkdir()
    snapshot.write_text("{% snapshot history %}\n{{ config(unique_key='id') }}\nselect 1 as id\n{% endsnapshot %}\n")
    assert lint(root, "snapshots").merges == lint(root, "snapshots").findings == ()
    ran = root / "target/run/shop/snapshots/history.sql"
    ran.parent.mkdir()
    ran.write_text(
        "merge into shop.history as DBT_INTERNAL_DEST using shop.history__dbt_tmp as DBT_INTERNAL_SOURCE\n"
        "on DBT_INTERNAL_SOURCE.dbt_scd_id = DBT_INTERNAL_DEST.dbt_scd_id\n"
        "when matched and DBT_INTERNAL_DEST.dbt_valid_to is null and DBT_INTERNAL_SOURCE.dbt_change_type = 'update'\n"
        "then update set dbt_valid_to = DBT_INTERNAL_SOURCE.dbt_valid_to\n"
        "when not matched and DBT_INTERNAL_SOURCE.dbt_change_type = 'insert' then insert *;\n"
    )
    findings = {finding.code: finding for finding in lint(root, "snapshots").findings}
    assert found(lint(root, "snapshots"), root, "P001") == [("P001", "history", "snapshots/history.sql", 2, "'id'")]
    assert "dbt fixes the MERGE of a snapshot" in findings["P001"].hint


def test_a_merge_in_a_hook_is_one_of_its_model(shop):
    hook = "merge into {{ this.schema }}.audit a using {{ this }} s on a.id = s.id when matched then update set n = {{ n }}"
    before = lint(shop("second"))
    root = shop("second", orders={"post-hook": [{"sql": hook}, {"sql": "analyze table {{ this }} compute statistics"}]})
    report = lint(root)
    (merge,) = set(report.merges) - set(before.merges)
    assert (merge.model, merge.path, merge.container, merge.verdict) == (
        "orders",
        "models/marts/orders.sql",
        "dbt",
        "none",
    )
    assert merge.target.endswith(".audit")
    (finding,) = [each for each in report.findings if each.code == "P001" and each not in before.findings]
    assert (finding.model, finding.place.path, finding.fix) == ("orders", "models/marts/orders.sql", None)


def test_a_merge_in_a_hook_of_a_seed_is_at_its_yaml(shop):
    root = shop("second")
    hook = "merge into lake.audit a using {{ this }} s on a.id = s.id when matched then update set n = s.n"
    (root / "seeds").mkdir()
    (root / "seeds/raw_orders.csv").write_text("id,n\n1,{{ config( }}\n")
    yaml = f"version: 2\nseeds:\n- name: raw_orders\n  config:\n    post-hook:\n    - set a.b = 1\n    - {hook}\n"
    (root / "seeds/seeds.yml").write_text(yaml)
    file = root / "target/manifest.json"
    manifest = json.loads(file.read_text())
    seed = manifest["nodes"]["seed.shop.raw_orders"]
    seed["patch_path"] = "shop://seeds/seeds.yml"
    seed["config"]["post-hook"] = [{"sql": "set a.b = 1"}, {"sql": hook}]
    file.write_text(json.dumps(manifest))
    for paths in ([], ["seeds"], ["seeds/raw_orders.csv"]):
        report = lint(root, *paths)
        assert [merge.verdict for merge in report.merges if merge.model == "raw_orders"] == ["none"]
        (finding,) = [each for each in report.findings if (each.code, each.model) == ("P001", "raw_orders")]
        assert (finding.place.path, finding.place.line) == ("seeds/seeds.yml", 7)


def test_a_microbatch_model_is_no_merge(shop):
    """dbt replaces its windows, and leaves one statement for each of its batches."""
    windows = {"event_time": "at", "batch_size": "day", "begin": "2024-01-01", "lookback": 1}
    root = shop("first", orders={"incremental_strategy": "microbatch", **windows})
    batch = root / "target/run/shop/models/orders/orders_2024-01-01.sql"
    batch.parent.mkdir(parents=True)
    batch.write_text("insert overwrite table shop.orders partition (dt) select * from orders__dbt_tmp_20240101")
    report = lint(root)
    assert "orders" not in {merge.model for merge in report.merges}
    assert not [finding for finding in report.findings if finding.model == "orders"]
