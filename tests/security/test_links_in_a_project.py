"""Links, pipes and devices in a check-out: no command reads what they lead to, and none waits."""

import os
from pathlib import Path

import pytest

from tests.security.hostile_project import SECRET, run, write_hostile

LINKS = [
    ("models/x.sql", "../../../others/secret.sql"),
    ("models/x.yml", "../../../others/secret.yml"),
    ("models/x.md", "../../../others/secret.yml"),
    ("models/x.sql", "/dev/zero"),
    ("models/x.sql", "/proc/self/environ"),
    ("models/x", "../../../others"),
    ("models/x", "/usr"),
    ("models/x.sql", "../../.git/config"),
    ("macros", "../../others"),
    ("seeds", "../../others"),
    ("tests", "/usr"),
    ("analyses", "../../others"),
    ("selectors.yml", "../../others/secret.yml"),
    ("catalog.yml", "../../others/secret.yml"),
    ("packages.yml", "../../others/secret.yml"),
    ("dependencies.yml", "../../others/secret.yml"),
    ("lint-baseline.json", "../../others/secret.yml"),
]


@pytest.mark.parametrize(("link", "to"), LINKS)
def test_a_link_is_not_followed_out_of_the_repository(tmp_path: Path, link: str, to: str) -> None:
    project = write_hostile(tmp_path)
    (tmp_path / "repository" / ".git" / "config").write_text(SECRET)
    (project / link).symlink_to(to)
    ran = run(project, ["lint"], tmp_path)
    assert ran.returncode == 2
    assert "[outside]" in ran.stderr
    assert SECRET not in ran.stdout + ran.stderr


@pytest.mark.parametrize("command", [["ls"], ["parse"], ["compile"], ["docs", "generate", "--static"]])
def test_no_command_follows_it(tmp_path: Path, command: list[str]) -> None:
    project = write_hostile(tmp_path)
    (project / "models/x.sql").symlink_to("../../../others/secret.sql")
    (project / "models/y.yml").symlink_to("../../../others/secret.yml")
    ran = run(project, command, tmp_path)
    assert ran.returncode == 2
    assert ran.stderr.count("[outside]") == 2
    written = (
        [file for file in (project / "target").rglob("*") if file.is_file()] if (project / "target").exists() else []
    )
    assert not any(SECRET.encode() in file.read_bytes() for file in written)


@pytest.mark.parametrize(
    "path",
    [
        "models/x.sql",
        "models/x.yml",
        "macros/x.sql",
        "seeds/x.csv",
        "tests/x.sql",
        "tests/fixtures/x.csv",
        "models/x.md",
    ],
)
def test_a_pipe_is_not_waited_for(tmp_path: Path, path: str) -> None:
    project = write_hostile(tmp_path)
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(project / path)
    ran = run(project, ["lint"], tmp_path)
    assert ran.returncode == 2
    assert f"{path}:1:1: error: it is a pipe, not a file [not-a-file]" in ran.stderr


@pytest.mark.parametrize(
    "path", ["selectors.yml", "catalog.yml", "packages.yml", "packages.lock", "lint-baseline.json"]
)
def test_a_pipe_in_place_of_a_file_of_the_project(tmp_path: Path, path: str) -> None:
    project = write_hostile(tmp_path, {"packages.yml": "packages: [{local: p}]"} if path == "packages.lock" else {})
    os.mkfifo(project / path)
    ran = run(project, ["lint"], tmp_path)
    assert ran.returncode == 2
    assert "internal" not in ran.stderr


def test_links_within_the_repository_are_read(tmp_path: Path) -> None:
    project = write_hostile(tmp_path)
    shared = tmp_path / "repository" / "shared"
    shared.mkdir()
    (shared / "m.sql").write_text("{% macro one() %}1{% endmacro %}")
    (project / "macros").symlink_to("../shared")
    (project / "models/b.sql").write_text("select {{ one() }} as id")
    assert run(project, ["compile"], tmp_path).returncode == 0
    assert (project / "target/compiled/shop/models/b.sql").read_text() == "select 1 as id"


def test_links_between_many_folders_end(tmp_path: Path) -> None:
    """Each of 12 folders has links to all others: 12! paths."""
    project = write_hostile(tmp_path)
    names = [f"f{number}" for number in range(12)]
    for name in names:
        (project / "models" / name).mkdir()
        for other in names:
            if other != name:
                (project / "models" / name / other).symlink_to(f"../{other}")
    ran = run(project, ["ls"], tmp_path)
    assert ran.returncode == 2
    assert "[symlink-loop]" in ran.stderr


def test_deep_folders(tmp_path: Path) -> None:
    project = write_hostile(tmp_path)
    deep = project / "models"
    for _ in range(101):
        deep = deep / "d"
        deep.mkdir()
    (deep / "b.sql").write_text("select 1 as id")
    ran = run(project, ["ls"], tmp_path)
    assert ran.returncode == 2
    assert "[unreadable]" in ran.stderr


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe", None, "pipe", "../../others/secret.yml", "nowhere", b"[tool.merge-runner]\nname = \xe4"],
    ids=["bytes", "folder", "pipe", "link", "dangling", "latin-1"],
)
@pytest.mark.parametrize("command", [["lint"], ["ls"], ["parse"], ["lint", "models/a.sql"], ["clean"]])
def test_what_is_wrong_with_pyproject_is_said(tmp_path: Path, content: bytes | str | None, command: list[str]) -> None:
    project = write_hostile(tmp_path)
    file = project / "pyproject.toml"
    file.unlink()
    if content is None:
        file.mkdir()
    elif content == "pipe":
        os.mkfifo(file)
    elif isinstance(content, str):
        file.symlink_to(content)
    else:
        file.write_bytes(content)
    ran = run(project, command, tmp_path)
    assert ran.returncode == 2
    assert f"{file}:" in ran.stderr
    assert "no-project" not in ran.stderr
    assert "internal" not in ran.stderr


PLAIN = {
    "job.py": 'spark.sql("merge into t using s on t.id = s.id when matched then delete")',
    "b.sql": "merge into t using s on t.id = s.id when matched then delete",
}


def _plain(tmp_path: Path) -> Path:
    folder = tmp_path / "plain"
    folder.mkdir()
    for name, text in PLAIN.items():
        (folder / name).write_text(text)
    (tmp_path / "secret.sql").write_text(f"merge into {SECRET} oops")
    return folder


@pytest.mark.parametrize("name", ["x.sql", "x.py", "x.ipynb", "x.scala"])
@pytest.mark.parametrize("to", ["../secret.sql", "/dev/zero", None])
def test_a_walk_over_plain_files_follows_no_link(tmp_path: Path, name: str, to: str | None) -> None:
    folder = _plain(tmp_path)
    if to is None:
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to(to)
    ran = run(folder, ["lint", "."], tmp_path)
    assert ran.returncode == 1
    assert SECRET not in ran.stdout + ran.stderr
    assert "internal" not in ran.stderr


def test_a_file_that_is_named_may_be_elsewhere(tmp_path: Path) -> None:
    folder = _plain(tmp_path)
    ran = run(folder, ["lint", "../secret.sql"], tmp_path)
    assert ran.returncode == 1
    assert SECRET in ran.stdout


def test_a_package_copies_no_link(tmp_path: Path) -> None:
    package = {"p/dbt_project.yml": "name: p\n", "p/macros/m.sql": "{% macro m() %}1{% endmacro %}"}
    project = write_hostile(tmp_path, {"packages.yml": "packages: [{local: p}]", **package})
    (project / "p/macros/x.sql").symlink_to("../../../../others/secret.sql")
    ran = run(project, ["deps"], tmp_path)
    assert ran.returncode == 2
    assert "[unsafe-package]" in ran.stderr
    assert not (project / "dbt_packages").exists()


@pytest.mark.parametrize("paths", ["../../../others", "/etc", "../m"])
def test_a_macro_path_of_a_package_stays_in_it(tmp_path: Path, paths: str) -> None:
    package = {"p/dbt_project.yml": f"name: p\nmacro-paths: ['{paths}']\n"}
    project = write_hostile(tmp_path, {"packages.yml": "packages: [{local: p}]", **package})
    ran = run(project, ["deps"], tmp_path)
    assert ran.returncode == 2
    assert "[unsafe-package]" in ran.stderr


@pytest.mark.parametrize("local", ["../../others", "/etc", "../../../.."])
def test_a_local_package_is_of_the_repository(tmp_path: Path, local: str) -> None:
    project = write_hostile(tmp_path, {"packages.yml": f"packages: [{{local: '{local}'}}]"})
    (tmp_path / "others" / "dbt_project.yml").write_text("name: others\n")
    ran = run(project, ["deps"], tmp_path)
    assert ran.returncode == 2
    assert "[unsafe-package]" in ran.stderr
