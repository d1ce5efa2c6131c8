"""Packages of macros: declared, installed and locked, and their macros in models and data tests (packages/calls.yml)."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from merge_runner.api import Project, install_packages
from merge_runner.errors import ProblemsError
from tests.fake_engine import FakeDriver
from tests.written_project import write_files
from tests.yaml_data import read_yaml

HERE = Path(__file__).parent / "packages"
CALLS = read_yaml(HERE / "calls.yml")
SHARED = {
    "shared/dbt_project.yml": "name: shared\n",
    "shared/macros/both.sql": "{% macro both(x) %}{{ own(x) }} and {{ shared.own(x) }}{% endmacro %}"
    "{% macro own(x) %}own({{ x }}){% endmacro %}"
    "{% macro which() %}{{ adapter.dispatch('which', 'shared')() }}{% endmacro %}"
    "{% macro default__which() %}the package's{% endmacro %}",
    "macros/which.sql": "{% macro spark__which() %}the project's{% endmacro %}",
}
PROFILES = "shop: {target: dev, outputs: {dev: {schema: shop, warehouse: warehouse}}}\n"


def git(folder, *arguments):
    name = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "init.defaultBranch=main"]
    return subprocess.run(
        ["git", "-C", folder, *name, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository with dbt_utils in a folder, and the tag 1.0."""
    folder = tmp_path_factory.mktemp("git")
    shutil.copytree(HERE / "dbt_utils", folder / "utils")
    git(folder, "init", "--quiet")
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "-m", "first")
    git(folder, "tag", "1.0")
    return folder


def packages(repository, revision="1.0"):
    return f"packages:\n  - git: {repository}\n    revision: '{revision}'\n    subdirectory: utils\n  - local: shared\n"


@pytest.fixture
def shop(tmp_path, repository):
    settings = '[tool.merge-runner]\nname = "shop"\n'
    files = {"packages.yml": packages(repository), "pyproject.toml": settings, "profiles.yml": PROFILES, **SHARED}
    models = {"models/b.sql": "select 1 as id, 2 as at", "models/unknown.sql": "select * from somewhere"}
    return write_files(tmp_path, {**files, **models})


def test_what_is_installed_is_locked(shop, repository):
    locked = install_packages(shop)
    assert [(package.name, package.commit) for package in locked] == [
        ("dbt_utils", git(repository, "rev-parse", "1.0")),
        ("shared", None),
    ]
    assert (shop / "dbt_packages/dbt_utils/LICENSE").is_file()
    assert [each["name"] for each in json.loads((shop / "packages.lock").read_text())["packages"]] == [
        "dbt_utils",
        "shared",
    ]
    before = (shop / "packages.lock").read_text()
    assert install_packages(shop) == locked
    assert (shop / "packages.lock").read_text() == before
    Project.load(shop).check()


def test_a_tag_that_moves_is_followed_when_it_is_asked_for(shop, tmp_path_factory, repository):
    moving = tmp_path_factory.mktemp("moving")
    shutil.copytree(repository, moving, dirs_exist_ok=True)
    (shop / "packages.yml").write_text(packages(moving))
    first = install_packages(shop)
    (moving / "utils/macros/more.sql").write_text("{% macro more() %}1{% endmacro %}")
    git(moving, "add", "-A")
    git(moving, "commit", "--quiet", "-m", "second")
    git(moving, "tag", "-f", "1.0")
    assert install_packages(shop) == first
    second = install_packages(shop, upgrade=True)
    assert second[0].commit == git(moving, "rev-parse", "1.0") != first[0].commit
    assert second[0].checksum != first[0].checksum


@pytest.mark.parametrize("case", CALLS, ids=lambda case: case["call"])
def test_call(case, shop):
    install_packages(shop)
    write_files(shop, {"models/a.sql": f"select {{{{ {case['call']} }}}} as x"})
    if "error" in case:
        with pytest.raises(ProblemsError, match=case["error"]) as raised:
            Project.load(shop).compile("a")
        assert {problem.place.path for problem in raised.value.problems} == {"models/a.sql"}
    else:
        text = Project.load(shop).compile("a")["model.shop.a"]
        assert " ".join(text.split()) == f"select {case['sql']} as x"


def test_a_data_test_of_a_package(shop):
    install_packages(shop)
    test = "{dbt_utils.accepted_range: {min_value: 0}}"
    columns = f"[{{name: id, data_tests: [dbt_utils.not_constant, {test}, dbt_utils.recency: {{datepart: day, interval: 1}}]}}]"
    write_files(shop, {"models/b.yml": f"models: [{{name: b, columns: {columns}}}]"})
    project = Project.load(shop)
    project.check()
    tests = {node.generic_test.name: node for node in project.graph.nodes.values() if node.resource_type == "test"}
    assert set(tests) == {"dbt_utils.not_constant", "dbt_utils.accepted_range", "recency"}
    assert "macro.dbt_utils.test_not_constant" in tests["dbt_utils.not_constant"].macros
    assert "count(distinct id) = 1" in " ".join(
        project.compile(tests["dbt_utils.not_constant"].name).popitem()[1].split()
    )


def test_a_changed_package_is_loaded_again(shop):
    """What is kept between runs depends on the files of packages."""
    write_files(shop, {"models/a.sql": "select {{ shared.both('a') }} as x"})
    install_packages(shop)
    assert "own(a)" in Project.load(shop).compile("a")["model.shop.a"]
    macros = shop / "shared/macros/both.sql"
    macros.write_text(macros.read_text().replace("own({{ x }})", "new({{ x }})"))
    assert "own(a)" in Project.load(shop).compile("a")["model.shop.a"]
    install_packages(shop)
    assert "new(a)" in Project.load(shop).compile("a")["model.shop.a"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda shop: shutil.rmtree(shop / "dbt_packages"), "missing-package"),
        (lambda shop: (shop / "packages.lock").unlink(), "missing-package"),
        (lambda shop: (shop / "packages.lock").write_text("{"), "bad-lock"),
        (lambda shop: (shop / "dbt_packages/shared/macros/x.sql").write_text("x"), "changed-package"),
        (
            lambda shop: (shop / "packages.yml").write_text(
                "packages: [{package: dbt-labs/dbt_utils, version: 1.0.0}]"
            ),
            "unknown-package",
        ),
        (lambda shop: (shop / "packages.yml").write_text("packages: [{git: x}]"), "unpinned-package"),
        (lambda shop: (shop / "dependencies.yml").write_text("packages: [{local: x, git: y}]"), "unknown-package"),
    ],
)
def test_what_is_not_as_it_is_declared(change, code, shop):
    install_packages(shop)
    change(shop)
    with pytest.raises(ProblemsError) as raised:
        Project.load(shop)
    assert code in {problem.code for problem in raised.value.problems}


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ("packages: [{local: none}]", "there is no folder none"),
        ("packages: [{local: models}]", "no dbt_project.yml with a name"),
        ("packages: [{local: shared}, {local: ./shared}]", "another package is named shared"),
        ("packages: [{git: none, revision: '1.0'}]", "git: "),
    ],
)
def test_what_cannot_be_installed(declared, message, shop):
    before = install_packages(shop)
    (shop / "packages.yml").write_text(declared)
    with pytest.raises(ProblemsError, match=message):
        install_packages(shop)
    assert (shop / "dbt_packages" / before[0].name).is_dir()


def test_a_commit_with_other_files_is_refused(shop):
    install_packages(shop)
    lock = json.loads((shop / "packages.lock").read_text())
    lock["packages"][0]["checksum"] = "sha256:0"
    (shop / "packages.lock").write_text(json.dumps(lock))
    with pytest.raises(ProblemsError, match="its checksum is not the locked one"):
        install_packages(shop)


def test_deps(shop, tmp_path, monkeypatch, capsys):
    from merge_runner.cli.main import main

    monkeypatch.chdir(shop)
    with pytest.raises(SystemExit) as ended:
        main(["deps", "--packages", "--quiet"])
    assert ended.value.code == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["dbt_utils", "shared"]


def test_macros_that_ask_the_engine_run_in_the_turn_of_the_model(shop):
    calls = (
        "dbt_utils.get_column_values(ref('b'), 'id')",
        "dbt_utils.get_single_value('select id from ' ~ ref('b'))",
        "dbt_utils.get_query_results_as_dict('select id from ' ~ ref('b'))['id']",
        "dbt_utils.pivot('id', dbt_utils.get_column_values(ref('b'), 'id'), quote_identifiers=false)",
    )
    text = "{{ config(materialized='table') }}select " + ", ".join(f"{{{{ {call} }}}}" for call in calls)
    write_files(shop, {"models/b.sql": "{{ config(materialized='table') }}select 1 as id", "models/wide.sql": text})
    (shop / "models/unknown.sql").unlink()
    install_packages(shop)
    driver = FakeDriver(answers={"select id": [{"id": 1}, {"id": 2}], "select": [{"value": 1}, {"value": 2}]})
    [_, result] = Project.load(shop).build(lint=False, driver=driver).results
    assert result.status == "success", result.message
    pivoted = " , ".join(f"sum( case when id = '{each}' then 1 else 0 end ) as _{each}" for each in (1, 2))
    assert " ".join(result.compiled_code.split()) == f"select [1, 2], 1, [1, 2], {pivoted}"
