"""Links in the folder of everything generated, and a folder elsewhere: nothing of others is written or removed."""

import os
import stat
from pathlib import Path

import pytest

from merge_runner.api import Project, clean
from merge_runner.atomic import keep_newest, make_folder, open_to_append, write_atomic
from merge_runner.errors import ProblemsError
from merge_runner.pages.runs.history import keep
from merge_runner.project_file import RefusedFileError
from tests.security.hostile_project import run, write_hostile

SETTINGS = '[tool.merge-runner]\nname = "shop"\ntarget-path = "{}"\n'


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A folder of somebody else, with files of the kinds that merge-runner writes and tidies."""
    folder = tmp_path / "victim"
    folder.mkdir()
    for number in range(80):
        (folder / f"{number}.json").write_text("mine")
    for name in ("manifest.json", "journal.jsonl", "reuse.json", "index.html", "spark.log"):
        (folder / name).write_text("mine")
    return folder


def _is_whole(victim: Path) -> bool:
    return len(list(victim.iterdir())) == 85 and all(file.read_text() == "mine" for file in victim.iterdir())


@pytest.mark.parametrize("command", [["lint"], ["ls"], ["parse"], ["compile"], ["clean"], ["docs", "generate"]])
@pytest.mark.parametrize(("link", "path"), [("target", "target"), ("out", "out/inner")])
def test_a_target_folder_that_is_a_link(tmp_path: Path, victim: Path, command: list[str], link: str, path: str) -> None:
    project = write_hostile(tmp_path, {"pyproject.toml": SETTINGS.format(path)})
    (project / link).symlink_to(victim)
    ran = run(project, command, tmp_path)
    assert ran.returncode == 2
    assert "[invalid-target-path]" in ran.stderr
    assert _is_whole(victim)


@pytest.mark.parametrize("path", ["../../victim", "{victim}", "target/../../../victim", ".git", "x/.git/hooks"])
@pytest.mark.parametrize("command", ["parse", "clean"])
def test_a_target_folder_elsewhere(tmp_path: Path, victim: Path, path: str, command: str) -> None:
    project = write_hostile(tmp_path, {"pyproject.toml": SETTINGS.format(path.format(victim=victim))})
    assert run(project, [command], tmp_path).returncode == 2
    assert _is_whole(victim)


def test_the_user_may_name_any_folder(tmp_path: Path) -> None:
    project = write_hostile(tmp_path)
    (project / "target").symlink_to("../../others")
    assert run(project, ["compile", "--target-path", str(tmp_path / "mine")], tmp_path).returncode == 0
    assert (tmp_path / "mine/compiled/shop/models/a.sql").exists()


@pytest.mark.parametrize("link", ["compiled", "compiled/shop", "compiled/shop/models"])
def test_a_link_below_it(tmp_path: Path, victim: Path, link: str) -> None:
    project = write_hostile(tmp_path)
    (project / "target" / link).parent.mkdir(parents=True)
    (project / "target" / link).symlink_to(victim)
    ran = run(project, ["compile"], tmp_path)
    assert ran.returncode == 2
    assert "[outside]" in ran.stderr
    assert _is_whole(victim)


def test_a_link_in_place_of_the_page(tmp_path: Path, victim: Path) -> None:
    project = write_hostile(tmp_path)
    (project / "target").mkdir()
    (project / "target" / "docs").symlink_to(victim)
    ran = run(project, ["docs", "generate"], tmp_path)
    assert ran.returncode == 2
    assert "[outside]" in ran.stderr
    assert _is_whole(victim)


def test_a_file_that_is_a_link_is_replaced(tmp_path: Path, victim: Path) -> None:
    project = write_hostile(tmp_path)
    (project / "target").mkdir()
    (project / "target" / "manifest.json").symlink_to(victim / "manifest.json")
    assert run(project, ["parse"], tmp_path).returncode == 0
    assert not (project / "target" / "manifest.json").is_symlink()
    assert _is_whole(victim)


def test_records_of_runs_are_not_kept_through_a_link(tmp_path: Path, victim: Path) -> None:
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "runs").symlink_to(victim)
    with pytest.raises(RefusedFileError):
        keep(tmp_path / "target", {"started_at": "2026-01-01T00:00:00+00:00", "id": "a", "nodes": []})
    assert _is_whole(victim)


def test_nothing_is_appended_through_a_link(tmp_path: Path, victim: Path) -> None:
    for name, to in (("journal.jsonl", victim / "journal.jsonl"), ("new.jsonl", victim / "new")):
        (tmp_path / name).symlink_to(to)
        with pytest.raises(RefusedFileError):
            open_to_append(tmp_path / name)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe"):
        open_to_append(tmp_path / "pipe")
    assert _is_whole(victim)


def test_no_folder_that_is_a_link_is_tidied(tmp_path: Path, victim: Path) -> None:
    (tmp_path / "kept").symlink_to(victim)
    keep_newest(tmp_path / "kept", "*.json", 5)
    assert _is_whole(victim)


def test_clean_removes_links_and_not_what_they_lead_to(tmp_path: Path, victim: Path) -> None:
    project = write_hostile(tmp_path)
    (project / "target" / "inner").mkdir(parents=True)
    for link in ("target/runs", "target/inner/link", "target/link"):
        (project / link).symlink_to(victim)
    clean(project, keep_runs=True)
    clean(project)
    assert not (project / "target").exists()
    assert _is_whole(victim)


@pytest.mark.parametrize("path", ["../x", "a/../../x", "link/x", "file/x"])
def test_a_folder_below_another_one_stays_there(tmp_path: Path, victim: Path, path: str) -> None:
    below = tmp_path / "target"
    below.mkdir()
    (below / "link").symlink_to(victim)
    (below / "file").touch()
    with pytest.raises(OSError, match=r"leads out|is a link or a file"):
        make_folder(below / path, below)
    assert _is_whole(victim)


@pytest.mark.parametrize(("umask", "mode"), [(0o077, 0o600), (0o022, 0o644), (0o002, 0o664)])
def test_new_files_have_what_the_umask_leaves(tmp_path: Path, umask: int, mode: int) -> None:
    before = os.umask(umask)
    try:
        write_atomic(tmp_path / "new", "text")
        open_to_append(tmp_path / "log").close()
        project = Project.load(write_hostile(tmp_path))
        project.write_manifest()
    finally:
        os.umask(before)
    files = [tmp_path / "new", tmp_path / "log", tmp_path / "repository/shop/target/manifest.json"]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {mode}


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    file.chmod(0o640)
    write_atomic(file, "text")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_the_api_refuses_it_too(tmp_path: Path, victim: Path) -> None:
    project = write_hostile(tmp_path)
    (project / "target").symlink_to(victim)
    for call in (Project.load, clean):
        with pytest.raises(ProblemsError, match="invalid-target-path"):
            call(project)
    assert _is_whole(victim)
