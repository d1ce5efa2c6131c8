"""Fingerprints: the same for the same plan in another invocation, and another one where something that runs differs."""

import pytest

from merge_runner import Project
from merge_runner.plan.model_tests.unit_tests import Scratch
from merge_runner.plan.plan import Planner
from merge_runner.run.reuse.fingerprint import difference, environment_of, fingerprint

FILES = {
    "models/m.sql": "{{ config(materialized='table') }} select 1 as id, '{{ var('v', 'x') }}' as w",
    "models/fct.sql": """
        merge into {{ this }} as t using (select id, w from {{ ref('m') }}) as s on t.id = s.id
        when not matched then insert *
    """,
    "models/m.yml": """
        version: 2
        models: [{name: fct, columns: [{name: id, data_type: int, data_tests: [not_null]}, {name: w, data_type: string}]}]
        unit_tests:
          - name: adds
            model: fct
            given: [{input: ref('m'), rows: [{id: 1, w: a}]}]
            expect: {rows: [{id: 1, w: a}]}
    """,
}


def fingerprints(root, invocation_id="", **given):
    prepared = Project.load(root, **given).prepared
    planner, scratch = Planner(prepared, invocation_id), Scratch.of(invocation_id)
    environment = environment_of(prepared)
    return {
        node.name: fingerprint(environment, node, planner.plan(name), scratch)
        for name, node in prepared.graph.nodes.items()
    }


def test_an_invocation_does_not_matter(make_project):
    root = make_project(FILES)
    assert fingerprints(root) == fingerprints(root, "0123456789") == fingerprints(root, "abcdefgh-ij")
    path = root / "models/m.yml"
    path.write_text("# a comment\n" + path.read_text())
    assert fingerprints(root) == fingerprints(root, "0123")


@pytest.mark.parametrize(
    ("path", "old", "new", "changed"),
    [
        ("models/m.sql", "select 1", "select 2", {"m"}),
        ("models/fct.sql", "insert *", "insert (id) values (s.id)", {"fct", "adds"}),
        ("models/m.yml", "rows: [{id: 1, w: a}]}]", "rows: [{id: 2, w: a}]}]", {"adds"}),
        ("models/m.yml", "expect: {rows: [{id: 1", "expect: {rows: [{id: 2", {"adds"}),
        ("models/m.yml", "data_type: string", "data_type: varchar(9)", {"fct", "adds"}),
        ("models/m.yml", "[not_null]", "[{not_null: {config: {where: id > 1}}}]", {"not_null_fct_id"}),
        ("models/fct.sql", "merge", "{{ config(properties={'a': 'b'}) }} merge", {"fct", "adds"}),
    ],
)
def test_what_runs_matters(make_project, path, old, new, changed):
    root = make_project(FILES)
    before = fingerprints(root)
    text = (root / path).read_text()
    assert old in text
    (root / path).write_text(text.replace(old, new, 1))
    after = fingerprints(root)
    found = {name.split(".")[0] for name in after if after[name] != before.get(name)}
    assert {name for name in found if not name.startswith("not_null")} == changed - {"not_null_fct_id"}
    assert any(name.startswith("not_null") for name in found) == ("not_null_fct_id" in changed)


@pytest.mark.parametrize(
    ("path", "old", "new", "name", "said"),
    [
        ("models/m.sql", "select 1", "select 2", "m", "its compiled text has changed"),
        ("models/fct.sql", "merge", "{{ config(properties={'a': 'b'}) }}merge", "fct", "its config has changed"),
        ("models/m.yml", "data_type: string", "data_type: varchar(9)", "fct", "its columns or its layout have changed"),
        (
            *("models/m.sql", "table') }} select 1", "table', tags='x') }} select 3", "m"),
            "its compiled text has changed; its config has changed",
        ),
        (
            *("profiles.yml", "master:", "conf: {spark.sql.ansi.enabled: 'false'}, master:", "m"),
            "confs, catalogs or the time zone have changed",
        ),
        ("models/m.sql", "x", "x", "m", None),
    ],
)
def test_what_differs_is_named(make_project, path, old, new, name, said):
    root = make_project(FILES)
    before = fingerprints(root)[name]
    text = (root / path).read_text()
    assert old in text
    (root / path).write_text(text.replace(old, new, 1))
    assert difference(before, fingerprints(root)[name]) == said


def test_vars_confs_and_targets_matter(make_project):
    root = make_project(FILES)
    before = fingerprints(root)
    assert {name for name, each in fingerprints(root, vars={"v": "y"}).items() if each != before[name]} == {"m"}
    profiles = root / "profiles.yml"
    profiles.write_text(profiles.read_text().replace("master:", "conf: {spark.sql.ansi.enabled: 'false'}, master:"))
    assert all(each != before[name] for name, each in fingerprints(root).items())


@pytest.mark.parametrize(
    "env",
    [{"SPARK_CONF_DIR": "conf"}, {"JAVA_TOOL_OPTIONS": "-Duser.timezone=Asia/Tokyo"}],
    ids=lambda env: next(iter(env)),
)
def test_what_spark_and_java_take_from_elsewhere_matters(make_project, monkeypatch, env):
    root = make_project({**FILES, "conf/spark-defaults.conf": "spark.sql.session.timeZone Asia/Tokyo\n"})
    before = fingerprints(root)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert all(each != before[name] for name, each in fingerprints(root).items())


def test_a_new_token_of_a_rest_catalog_changes_nothing(make_project):
    profile = "shop: {outputs: {dev: {schema: shop, catalogs: {lake: {type: TYPE, uri: 'http://h', token: TOKEN}}}}}"

    root = make_project(FILES)

    def found(kind, token):
        (root / "profiles.yml").write_text(profile.replace("TYPE", kind).replace("TOKEN", token))
        return fingerprints(root)

    assert found("rest", "first") == found("rest", "second")
    assert found("rest", "first") != found("jdbc", "first") != found("jdbc", "second")
