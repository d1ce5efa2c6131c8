"""Packages of macros write and read regular files of their own folders alone; so does what `deps` and `import dbt` write."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from merge_runner.api import Project, install_packages
from merge_runner.conversion.dbt.packages import package_files as imported_packages
from merge_runner.errors import ProblemsError
from merge_runner.project.load.package_files import is_inner_path
from merge_runner.project.load.packages import checksum, macro_files
from tests.written_project import write_files

MACRO = "{% macro m() %}1{% endmacro %}"
SHOP = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
    "profiles.yml": "shop: {target: dev, outputs: {dev: {schema: shop, warehouse: warehouse}}}\n",
    "models/a.sql": "{{ config(materialized='view') }}select 1 as id",
}


@pytest.fixture
def shop(tmp_path):
    """A project next to a folder of the user with one file."""
    write_files(tmp_path / "user", {"keep.sql": "the user's", "macros/keep.sql": "the user's"})
    return write_files(tmp_path / "shop", SHOP)


def link(path, target):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def package(root, settings="name: shared\n", files=(("macros/m.sql", MACRO),)):
    return write_files(root / "shared", {"dbt_project.yml": settings, **dict(files)})


def with_paths(*paths):
    return lambda root, user: package(root, f"name: shared\nmacro-paths: {json.dumps([*paths])}\n")


def with_link(path, target, settings="name: shared\n"):
    def write(root, user):
        package(root, settings)
        link(root / "shared" / path, str(target).format(user=user))

    return write


def link_before_copies(root, user):
    """A link to a folder of the user, and files that are copied over those behind it."""
    package(root, "name: shared\nmacro-paths: [more, more/../macros/link/x]\n", [("more/m.sql", MACRO)])
    link(root / "shared/macros/link", user)


def pipe(path):
    def write(root, user):
        package(root)
        os.mkfifo(root / "shared" / path)

    return write


HOSTILE = {
    "absolute macro path": with_paths("/etc/ssl"),
    "macro path above": with_paths("../../user"),
    "macro path above, from within": with_paths("macros/../../../user"),
    "macro path of Windows": with_paths("..\\..\\user"),
    "macro path of a drive": with_paths("C:\\user"),
    "macro path of a share": with_paths("\\\\host\\share"),
    "macro path with a null": with_paths("macros\0x"),
    "empty macro path": with_paths(""),
    "good and bad": with_paths("macros", "/etc/ssl"),
    "linked macro path": with_link("linked", "{user}", "name: shared\nmacro-paths: [linked]\n"),
    "below a linked folder": with_link("linked", "{user}", "name: shared\nmacro-paths: [linked/macros]\n"),
    "linked folder of macros": with_link("macros/linked", "{user}"),
    "linked macro": with_link("macros/linked.sql", "{user}/keep.sql"),
    "linked macro within": with_link("macros/linked.sql", "m.sql"),
    "dangling link": with_link("macros/new.sql", "{user}/new.sql"),
    "linked licence": with_link("LICENSE", "{user}/keep.sql"),
    "link, then copies": link_before_copies,
    "pipe": pipe("macros/pipe.sql"),
    "licence is a pipe": pipe("LICENSE"),
}


def state(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def codes(error):
    return [problem.code for problem in error.value.problems]


@pytest.mark.parametrize("write", HOSTILE.values(), ids=HOSTILE)
def test_a_package_that_leads_out_of_its_folder_is_refused(write, shop, tmp_path):
    write(shop, tmp_path / "user")
    write_files(shop, {"packages.yml": "packages:\n  - local: shared\n"})
    before = state(tmp_path / "user")
    with pytest.raises(ProblemsError) as error:
        install_packages(shop)
    assert (codes(error), str(error.value.problems[0].place)) == (["unsafe-package"], "packages.yml:2:5")
    assert state(tmp_path / "user") == before
    assert not (shop / "dbt_packages").exists()


IN_GIT = {name: write for name, write in HOSTILE.items() if "pipe" not in name}
READ = {name: write for name, write in IN_GIT.items() if "licence" not in name}


@pytest.mark.parametrize("write", IN_GIT.values(), ids=IN_GIT)
def test_a_hostile_package_of_a_repository_is_refused(write, shop, tmp_path):
    repository = tmp_path / "repository"
    write(repository, tmp_path / "user")
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=t", "-c", "user.email=t@x", "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", repository, *words], check=True)
    entry = f"packages:\n  - git: {repository}\n    revision: HEAD\n    subdirectory: shared\n"
    write_files(shop, {"packages.yml": entry})
    before = state(tmp_path / "user")
    with pytest.raises(ProblemsError) as error:
        install_packages(shop)
    assert codes(error) == ["unsafe-package"]
    assert state(tmp_path / "user") == before


@pytest.mark.parametrize("write", READ.values(), ids=READ)
def test_an_installed_package_of_a_check_out_is_not_read_outside(write, shop, tmp_path):
    """A check-out brings dbt_packages and a packages.lock that fits."""
    write(shop / "dbt_packages", tmp_path / "user")
    locked = {"name": "shared", "declared": {"local": "shared"}, "checksum": "sha256:0"}
    write_files(
        shop,
        {"packages.yml": "packages: [{local: shared}]", "packages.lock": json.dumps({"packages": [locked]})},
    )
    with pytest.raises(ProblemsError) as error:
        Project.load(shop)
    assert "unsafe-package" in codes(error)
    assert "the user's" not in str(error.value)


@pytest.mark.parametrize(
    "entry",
    [
        "{local: /etc}",
        "{local: ../user}",
        "{local: 'shared/../../user'}",
        "{local: '..\\user'}",
        "{local: 'C:\\user'}",
        "{local: linked}",
        "{local: linked/macros}",
        "{git: repository, revision: x, subdirectory: ../user}",
        "{git: repository, revision: x, subdirectory: /etc}",
    ],
)
def test_a_declared_path_is_one_of_the_project_or_the_repository(entry, shop, tmp_path):
    link(shop / "linked", tmp_path / "user")
    write_files(tmp_path / "user", {"dbt_project.yml": "name: user"})
    write_files(shop, {"packages.yml": f"packages: [{entry}]"})
    with pytest.raises(ProblemsError) as error:
        install_packages(shop)
    assert codes(error) == ["unsafe-package"]


@pytest.mark.parametrize("name", ["../../user", "/etc", "a/b", "..", ".", "a\\\\b", "C:", "", "a b"])
def test_the_name_of_a_package_is_no_path(name, shop, tmp_path):
    package(shop, f'name: "{name}"\n')
    write_files(shop, {"packages.yml": "packages: [{local: shared}]"})
    with pytest.raises(ProblemsError, match=r"no dbt_project\.yml with a name"):
        install_packages(shop)
    before = state(tmp_path)
    found = imported_packages(shop)
    assert all(is_inner_path(path) for path in found.contents)
    assert [todo.kind for todo in found.todos] == ["left-out"]
    assert state(tmp_path) == before


@pytest.mark.parametrize("write", HOSTILE.values(), ids=HOSTILE)
def test_an_import_takes_no_files_from_outside(write, shop, tmp_path):
    write(shop, tmp_path / "user")
    write_files(shop, {"packages.yml": "packages: [{local: shared}]"})
    found = imported_packages(shop)
    assert (found.contents, [todo.kind for todo in found.todos]) == ({}, ["left-out"])


@pytest.mark.parametrize(
    "entry",
    [
        {"name": "../../user"},
        {"name": "/etc"},
        {"commit": "--upload-pack=x"},
        {"commit": "main"},
        {"commit": 7},
        {"declared": 7},
    ],
)
def test_a_lock_is_data(entry, shop):
    package(shop)
    write_files(shop, {"packages.yml": "packages: [{local: shared}]"})
    good = {"name": "shared", "declared": {"local": "shared"}, "checksum": "sha256:0"}
    (shop / "packages.lock").write_text(json.dumps({"packages": [good | entry]}))
    for action in (install_packages, Project.load):
        with pytest.raises(ProblemsError) as error:
            action(shop)
        assert "bad-lock" in codes(error)


def test_a_lock_that_is_nested_deeply_is_a_bad_one(shop):
    package(shop)
    write_files(shop, {"packages.yml": "packages: [{local: shared}]", "packages.lock": "[" * 200_000})
    with pytest.raises(ProblemsError) as error:
        install_packages(shop)
    assert codes(error) == ["bad-lock"]


@pytest.mark.parametrize("kind", ["link", "dangling link", "file"])
def test_the_folder_of_packages_is_a_folder_of_the_project(kind, shop, tmp_path):
    package(shop)
    write_files(shop, {"packages.yml": "packages: [{local: shared}]"})
    if kind == "file":
        (shop / "dbt_packages").write_text("x")
    else:
        link(shop / "dbt_packages", tmp_path / ("user" if kind == "link" else "new"))
    before = state(tmp_path)
    with pytest.raises(ProblemsError) as error:
        install_packages(shop)
    assert codes(error) == ["unsafe-folder"]
    assert state(tmp_path) == before
    assert not (tmp_path / "new").exists()


def test_a_lock_that_is_a_link_out_of_the_project_is_neither_read_nor_followed(shop, tmp_path):
    package(shop)
    write_files(shop, {"packages.yml": "packages: [{local: shared}]"})
    link(shop / "packages.lock", tmp_path / "user" / "new.lock")
    with pytest.raises(ProblemsError, match="bad-lock"):
        install_packages(shop)
    assert not (tmp_path / "user" / "new.lock").exists()


def test_what_is_installed_is_what_the_checksum_covers(shop):
    files = {"macros/m.sql": MACRO, "macros/.hidden.sql": "x", "macros/run.py": "x", "macros/in/n.sql": "", "x.sh": "x"}
    package(shop, files={**files, "LICENSE.txt": "x", "macros/.d/y.sql": "x"}.items())
    (shop / "shared" / "macros" / "m.sql").chmod(0o755)
    write_files(shop, {"packages.yml": "packages: [{local: ./shared}]"})
    [locked] = install_packages(shop)
    installed = shop / "dbt_packages" / "shared"
    assert sorted(state(installed)) == ["LICENSE.txt", "dbt_project.yml", "macros/in/n.sql", "macros/m.sql"]
    assert not any(path.stat().st_mode & 0o111 for path in installed.rglob("*") if path.is_file())
    assert locked.checksum == checksum(macro_files(shop, "dbt_packages/shared", None), "dbt_packages/shared")
    Project.load(shop).check()


def test_deps_says_what_is_wrong_with_a_package_in_one_message(shop):
    with_paths("/etc/ssl")(shop, None)
    write_files(shop, {"packages.yml": "packages: [{local: shared}]"})
    words = [sys.executable, "-m", "merge_runner", "deps", "--packages"]
    ended = subprocess.run(words, cwd=shop, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 2
    assert ended.stderr.count("[unsafe-package]") == 1
    assert '`macro-paths` of its dbt_project.yml: "/etc/ssl" is not a path below its folder' in ended.stderr


@pytest.mark.parametrize("setting", ["macros", "7", "{a: b}", "[]", "null"])
def test_macro_paths_that_are_no_list_are_the_usual_ones(setting, shop):
    package(shop, f"name: shared\nmacro-paths: {setting}\n")
    write_files(shop, {"packages.yml": "packages: [{local: shared}]"})
    install_packages(shop)
    assert Path(shop / "dbt_packages/shared/macros/m.sql").is_file()
