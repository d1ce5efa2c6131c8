"""Loading a whole project: what it gives, and everything that is wrong with one at once."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from merge_runner.errors import Problems, ProblemsError
from merge_runner.project.load.find_project import find_root
from merge_runner.project.load.load import parse_vars
from merge_runner.project.schema.config_layers import resolve
from merge_runner.text import Place
from tests.project.conftest import load

MERGE = "merge into {{ this }} as t using s on t.id = s.id when matched then delete\n"


def test_a_project_is_what_its_files_say(project):
    files = project(
        {
            "models/staging/stg.sql": "select 1\r\n",
            "models/fct.sql": MERGE,
            "models/schema.yml": """\
                sources:
                  - name: raw
                    tables: [{name: t, path: data/t.csv, data_tests: [own_test]}]
                models:
                  - name: fct
                    columns: [{name: id, data_tests: [not_null]}]
                    data_tests: [unique_combination_of_columns: {columns: [id]}]
                unit_tests:
                  - {name: works, model: fct, expect: {rows: []}}
                """,
            "seeds/zip.csv": "code\n1\n",
            "seeds/zip.yml": "seeds: [{name: zip, config: {delimiter: ;}}]",
            "macros/m.sql": "{% macro m() %}{% endmacro %}",
            "macros/m.yml": "macros: [{name: m, description: d}]",
            "tests/fine.sql": "select 1 where false",
            "tests/fixtures/rows.csv": "a\n1\n",
            "selectors.yml": "nightly: tag:nightly+",
        }
    ).load(vars={"day": date(2013, 1, 1)})
    assert list(files.models) == ["fct", "stg"]
    assert files.models["stg"].folder == ("staging",)
    assert files.models["stg"].source.path == "models/staging/stg.sql"
    assert files.models["stg"].source.text == "select 1\n"
    assert files.models["fct"].properties.name == "fct"
    assert files.models["fct"].properties_place == Place("models/schema.yml", 5, 11, 5, 14)
    assert files.seeds["zip"].path.read_text() == "code\n1\n"
    assert files.seeds["zip"].layers[0].values == {"delimiter": ";"}
    assert files.sources["raw", "t"].table.format == "csv"
    assert [macro.path for macro in files.macros] == ["macros/m.sql"]
    assert files.macro_properties["m"].description == "d"
    assert [test.path for test in files.singular_tests] == ["tests/fine.sql"]
    assert files.fixtures["rows"].text == "a\n1\n"
    tests = {on: [(e.column, e.test.name, e.place.line) for e in entries] for on, entries in files.data_tests.items()}
    assert tests == {
        ("fct",): [(None, "unique_combination_of_columns", 7), ("id", "not_null", 6)],
        ("raw", "t"): [(None, "own_test", 3)],
    }
    assert [entry.test.name for entry in files.unit_tests] == ["works"]
    assert files.selectors["nightly"].definition.text == "tag:nightly+"
    assert files.vars == {"day": date(2013, 1, 1)}
    assert files.profile.schema == "shop"


def test_an_empty_project_is_fine(project):
    files = project().load()
    assert (files.models, files.sources, files.data_tests) == ({}, {}, {})


def test_config_comes_from_folders_then_names_then_yaml(project):
    files = project(
        {
            "pyproject.toml": """\
                [tool.merge-runner]
                name = "shop"
                [tool.merge-runner.models]
                tags = "all"
                schema = "base"
                [tool.merge-runner.models.shop.staging]
                tags = "staging"
                schema = "stage"
                [tool.merge-runner.models.staging.stg]
                priority = 3
                """,
            "models/staging/stg.sql": "select 1",
            "models/other.sql": "select 1",
            "models/a.yml": "models: [{name: stg, tags: [mine], config: {+alias: x, tags: [yours]}}]",
        }
    ).load()
    problems = Problems()
    staged = resolve(files.models["stg"].layers, problems, "model stg")
    assert (staged.tags, staged.schema) == (("all", "staging", "mine", "yours"), "stage")
    assert (staged.priority, staged.alias) == (3, "x")
    assert resolve(files.models["other"].layers, problems, "model other").tags == ("all",)
    assert not list(problems)


def test_arguments_stand_above_files(project):
    root = project(
        {
            "pyproject.toml": '[tool.merge-runner]\nname = "shop"\nvars = {a = 1, b = 2}\ntarget-path = "x"\n',
            "profiles.yml": """\
                shop: {target: a, outputs: {a: {schema: a}, b: {schema: b}}}
                other: {outputs: {b: {schema: c}}}
                """,
        }
    )
    files = root.load(vars={"b": 3}, target="b", target_path="out")
    assert files.vars == {"a": 1, "b": 3}
    assert files.settings.target_path == "out"
    assert files.profile.schema == "b"
    assert root.load(profile="other", target="b").profile.schema == "c"


def test_everything_that_is_wrong_is_told_at_once(project):
    assert project(
        {
            "pyproject.toml": """\
                [tool.merge-runner]
                name = "shop"
                [tool.merge-runner.models]
                formt = "delta"
                [tool.merge-runner.models.stagin]
                enabled = true
                """,
            "profiles.yml": "shop: {outputs: {a: {schema: a, thread: 1}}}",
            "models/staging/a.sql": "select 1",
            "models/b.sql": b"select '\xff'",
            "models/x.yml": "models: [{name: c}]",
            "models/y.yml": "a: [",
            "selectors.yml": "a: [b]",
        }
    ).messages() == [
        "models/b.sql:1:9: not UTF-8: byte 0xff at offset 8 [not-utf8]\n    save the file as UTF-8",
        'models/x.yml:1:17: there is no model "c" to describe [unknown-model]\n    known are a, b',
        "models/y.yml:1:5: not YAML: did not find expected node content [yaml-syntax]",
        'profiles.yml:1:33: output shop.a: unknown key "thread" [unknown-key]\n    did you mean "threads"?',
        'pyproject.toml:4:1: models: unknown config key "formt" [unknown-key]\n    did you mean "format"?',
        'pyproject.toml:5:27: models: "stagin" is neither a folder nor a config key [unknown-folder]\n'
        '    did you mean "staging"?',
        "selectors.yml:1:4: selector a: a definition must be text or a mapping, not a list [invalid-value]\n"
        "    write a selection as for --select, or a mapping with method and value, union, or intersection",
    ]


@pytest.mark.parametrize(
    ("files", "messages"),
    [
        ({"models/a/x.sql": "", "models/b/X.sql": ""}, [
            'models/b/X.sql:1:1: the model "X" has the name of the model in models/a/x.sql [duplicate-name]\n'
            "    rename one of the two files"
        ]),
        ({"models/x.sql": "", "seeds/x.csv": ""}, [
            'seeds/x.csv:1:1: the seed "x" has the name of the model in models/x.sql [duplicate-name]\n'
            "    rename one of the two files"
        ]),
        ({"models/2013-flights.sql": ""}, [
            'models/2013-flights.sql:1:1: "2013-flights" is no name for a model: letters, digits and underscores, '
            "no digit first [invalid-name]\n    rename the file, for example to _2013_flights.sql"
        ]),
        ({"models/fct_flight.sql": "", "models/a.yml": "models: [{name: fct_fligt}]"}, [
            'models/a.yml:1:17: there is no model "fct_fligt" to describe [unknown-model]\n'
            '    did you mean "fct_flight"?'
        ]),
        ({"seeds/x.csv": "", "models/a.yml": "models: [{name: x}]"}, [
            'models/a.yml:1:17: there is no model "x" to describe [unknown-model]\n'
            '    "x" is a seed: describe it under "seeds:"'
        ]),
        ({"models/x.sql": "", "seeds/a.yml": "seeds: [{name: x}]"}, [
            'seeds/a.yml:1:16: there is no seed "x" to describe [unknown-seed]\n'
            '    "x" is a model: describe it under "models:"'
        ]),
        ({"models/x.sql": "", "models/a.yml": "models: [{name: x}]", "models/b.yml": "models: [{name: x}]"}, [
            'models/b.yml:1:17: the model "x" is described twice, first in models/a.yml:1:17 [duplicate-name]\n'
            "    keep one of the two"
        ]),
        ({"models/a.yml": "sources: [{name: s, tables: [{name: t}, {name: t}]}]"}, [
            'models/a.yml:1:48: the source table "s.t" is described twice, first in models/a.yml:1:37 '
            "[duplicate-name]\n    keep one of the two"
        ]),
        ({"models/a.yml": "macros: [{name: m}, {name: m}]"}, [
            'models/a.yml:1:28: the macro "m" is described twice, first in models/a.yml:1:17 [duplicate-name]\n'
            "    keep one of the two"
        ]),
        ({"models/x.sql": "", "models/a.yml": """\
            unit_tests:
              - {name: u, model: x, expect: {error: e}}
              - {name: u, model: x, expect: {error: e}}
              - {name: u, model: y, expect: {error: e}}
            """}, [
            'models/a.yml:3:12: the unit test "u" is described twice, first in models/a.yml:2:12 [duplicate-name]\n'
            "    keep one of the two",
            'models/a.yml:4:22: unit test u: there is no model "y" [unknown-model]\n    known are x',
        ]),
        ({"models/x.sql": "", "tests/fixtures/some.csv": "", "models/a.yml": """\
            unit_tests:
              - name: u
                model: x
                given: [{input: this, format: csv, fixture: sone}]
                expect: {rows: []}
            """}, [
            'models/a.yml:4:49: unit test u: there is no fixture "sone" [unknown-fixture]\n'
            '    did you mean "some"?'
        ]),
        ({"models/x.sql": "", "models/a.yml": """\
            models:
              - name: x
                columns:
                  - {name: id, data_tests: [unique, not_null, unique: {config: {severity: warn}}, unique]}
                  - {name: ID}
            """}, [
            "models/a.yml:4:87: model x, column id: the data test unique appears twice, first in models/a.yml:4:33 "
            "[duplicate-test]\n    remove one of them",
            'models/a.yml:5:16: model x: the column "ID" is described twice, first in models/a.yml:4:16 '
            "[duplicate-column]\n    Spark's column names are case-insensitive",
        ]),
        ({"models/x.sql": "", "models/a.yml": "models: [{name: x, config: {enabeld: false}}]"}, [
            'models/a.yml:1:29: model x: unknown config key "enabeld" [unknown-key]\n    did you mean "enabled"?'
        ]),
        ({"tests/a/t.sql": "", "tests/b/t.sql": ""}, [
            'tests/b/t.sql:1:1: the singular test "t" has the name of the singular test in tests/a/t.sql '
            "[duplicate-name]\n    rename one of the two files"
        ]),
        ({"pyproject.toml": '[tool.merge-runner]\nname = "shop"\nmodel-paths = ["modles"]\n'}, [
            'pyproject.toml:3:16: there is no folder "modles" in the project [no-such-folder]\n    create it'
        ]),
        ({"pyproject.toml": '[tool.merge-runner]\nname = "shop"\nprofile = "shopp"\n'}, [
            'pyproject.toml:3:11: the profile "shopp" is not in profiles.yml [unknown-profile]\n'
            '    did you mean "shop"?'
        ]),
        ({"models/a.yml": "sources: [{name: s, tables: [{name: t, path: data/t}]}]"}, [
            'models/a.yml:1:37: source s, table t: a "path" needs a "format" [missing-key]\n'
            "    say format: csv, parquet, json, delta, …"
        ]),
    ],
)  # fmt: skip
def test_files_that_contradict_each_other_are_told_with_both_places(project, files, messages):
    assert project(files).messages() == messages


def test_a_link_to_nothing_cannot_be_read(project):
    broken = project({"models/a.sql": ""})
    (broken.root / "models" / "b.sql").symlink_to("nowhere.sql")
    assert broken.messages() == ["models/b.sql:1:1: cannot be read: No such file or directory [unreadable]"]


def test_links_that_lead_in_a_circle_are_told(project):
    circle = project({"models/a/x.sql": "", "models/b/y.sql": ""})
    (circle.root / "models" / "a" / "up").symlink_to("..")
    assert circle.messages() == [
        "models/a/up:1:1: this link leads back to a folder that holds it [symlink-loop]\n    remove the link"
    ]


def test_a_linked_folder_counts(project):
    linked = project({"models/a.sql": "", "elsewhere/z.sql": "select 1"})
    (linked.root / "models" / "more").symlink_to("../elsewhere")
    assert linked.load().models["z"].source.path == "models/more/z.sql"


def test_hidden_files_and_the_target_folder_are_left_out(project):
    files = project(
        {
            "pyproject.toml": '[tool.merge-runner]\nname = "shop"\nmodel-paths = ["."]\n',
            "a.sql": "",
            ".venv/b.sql": "",
            ".c.sql": "",
            "target/compiled/a.sql": "",
            "d.yaml": "models: [{name: a}]",
        }
    ).load()
    assert [model.source.path for model in files.models.values()] == ["a.sql"]
    assert files.models["a"].properties is not None


def test_folders_with_python_files_hold_no_singular_tests(project):
    files = project(
        {
            "tests/conftest.py": "",
            "tests/top.sql": "",
            "tests/plain/inner.sql": "",
            "tests/lint/test_rules.py": "",
            "tests/lint/case.sql": "",
            "tests/lint/cases/case.sql": "",
            "tests/generic/own.sql": "{% test own(model) %}{% endtest %}",
        }
    ).load()
    assert [test.path for test in files.singular_tests] == ["tests/top.sql", "tests/plain/inner.sql"]
    assert [macro.path for macro in files.macros] == ["tests/generic/own.sql"]


def test_the_root_is_the_nearest_project_above(project):
    root = project({"models/a/x.sql": "", "models/pyproject.toml": "[tool.ruff]\n"}).root
    assert find_root(root) == root
    assert find_root(root / "models" / "a") == root


def test_a_pyproject_that_is_not_toml_is_still_found_and_told(project):
    broken = project({"pyproject.toml": "[tool.merge-runner]\nname = shop\n"})
    assert find_root(broken.root) == broken.root
    assert broken.messages() == ["pyproject.toml:2:8: not TOML: Invalid value [toml-syntax]"]


def test_no_project_is_told_with_what_to_do(tmp_path):
    with pytest.raises(ProblemsError) as caught:
        find_root(tmp_path)
    assert [str(problem) for problem in caught.value.problems] == [
        f"neither {tmp_path} nor a folder above it is a merge-runner project [no-project]\n"
        "    run `merge-runner init NAME` for a new project, or say where it is with --project-dir"
    ]
    with pytest.raises(ProblemsError, match="is not a merge-runner project"):
        load(tmp_path, env={})


def test_vars_of_the_command_line_are_yaml():
    assert parse_vars("{from: 2013-01-01, n: 1}") == {"from": date(2013, 1, 1), "n": 1}
    assert parse_vars("") == {}
    with pytest.raises(ProblemsError) as caught:
        parse_vars("a")
    assert str(caught.value.problems[0]) == (
        "--vars must be a mapping [invalid-vars]\n    write it as --vars 'from: 2013-01-01'"
    )
    with pytest.raises(ProblemsError, match=r"--vars:1:5: not YAML"):
        parse_vars("a: b: c")


def test_the_flights_project_of_this_repository_loads():
    root = Path(__file__).parents[3]
    files = load(root, env={"HOME": str(root)})
    assert files.settings.name == "flights"
    assert all(test.path.count("/") == 1 for test in files.singular_tests)
