"""Links, pipes, devices and sizes: what a file of a check-out may be, and what is refused."""

import os
from pathlib import Path

import pytest

from merge_runner.project_file import LIMIT, Boundary, RefusedFileError, read_file

SECRET = "secret-of-this-machine"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with two projects, and a secret beside it."""
    (tmp_path / "secret.txt").write_text(SECRET)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.sql").write_text(SECRET)
    root = tmp_path / "repository"
    for folder in (".git", "project/models", "project/.hidden", "shared/macros"):
        (root / folder).mkdir(parents=True)
    (root / ".git" / "config").write_text(SECRET)
    (root / ".env").write_text(SECRET)
    (root / "project" / ".env").write_text(SECRET)
    (root / "project" / ".hidden" / "a.sql").write_text("select 1")
    (root / "project" / "models" / "a.sql").write_text("select 1")
    (root / "shared" / "macros" / "m.sql").write_text("select 2")
    return root


def _read(project: Path, path: str) -> bytes:
    return read_file(os.path.join(project, path), Boundary(project))  # noqa: PTH118 -- a Path may have no NUL


@pytest.mark.parametrize(
    ("link", "to"),
    [
        ("models/x.sql", "../../../secret.txt"),
        ("models/x.sql", "../../.git/config"),
        ("models/x.sql", "../../.env"),
        ("models/x.sql", "../.env"),
        ("models/x.sql", "/etc/passwd"),
        ("models/x.sql", "/dev/zero"),
        ("models/x.sql", "/proc/self/environ"),
        ("models/x.sql", "../../../not-there"),
    ],
)
def test_a_link_that_leads_out_is_refused(repository: Path, link: str, to: str) -> None:
    project = repository / "project"
    (project / link).symlink_to(to)
    with pytest.raises(RefusedFileError) as refused:
        _read(project, link)
    assert refused.value.code == "outside"
    assert SECRET not in str(refused.value)


def test_a_chain_of_links_counts_by_its_end(repository: Path) -> None:
    project = repository / "project"
    (project / "models" / "b.sql").symlink_to("c.sql")
    (project / "models" / "c.sql").symlink_to("../../../secret.txt")
    assert _refusal(project, "models/b.sql") == "outside"


@pytest.mark.parametrize(("folder", "to"), [("more", "../../outside"), ("more", "../.git"), ("more", "/usr")])
def test_no_file_of_a_folder_that_a_link_leads_out_to(repository: Path, folder: str, to: str) -> None:
    project = repository / "project"
    (project / folder).symlink_to(to)
    assert _refusal(project, f"{folder}/a.sql") == "outside"
    assert _refusal(project, folder) == "outside"
    assert not Boundary(project).holds(folder)


@pytest.mark.parametrize(
    "path", ["../../secret.txt", "../../outside/a.sql", "models/../../../secret.txt", "../.git/config"]
)
def test_a_path_that_leads_out_is_refused(repository: Path, path: str) -> None:
    assert _refusal(repository / "project", path) == "outside"


@pytest.mark.parametrize(
    ("link", "to"),
    [
        ("models/b.sql", "a.sql"),
        ("models/b.sql", "../../shared/macros/m.sql"),
        ("macros", "../shared/macros"),
        ("models/inner", "../models"),
    ],
)
def test_links_within_the_repository_are_followed(repository: Path, link: str, to: str) -> None:
    project = repository / "project"
    (project / link).symlink_to(to)
    file = next((project / link).glob("*.sql")) if (project / link).is_dir() else project / link
    assert read_file(file, Boundary(project)).startswith(b"select ")


def test_a_hidden_folder_may_be_named(repository: Path) -> None:
    assert _read(repository / "project", ".hidden/a.sql") == b"select 1"


def test_without_a_repository_the_project_is_the_boundary(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "shared.sql").write_text("select 1")
    (tmp_path / "project" / "a.sql").symlink_to("../shared.sql")
    assert _refusal(tmp_path / "project", "a.sql") == "outside"


def test_a_home_folder_that_is_a_repository_is_no_boundary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / ".git").mkdir()
    (tmp_path / "project").mkdir()
    (tmp_path / "notes.txt").write_text(SECRET)
    (tmp_path / "project" / "a.sql").symlink_to("../notes.txt")
    assert _refusal(tmp_path / "project", "a.sql") == "outside"


def test_a_project_that_is_reached_by_a_link(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(repository / "project")
    assert _read(tmp_path / "alias", "models/a.sql") == b"select 1"


@pytest.mark.parametrize("named", [False, True])
def test_a_pipe_is_not_waited_for(repository: Path, named: bool) -> None:
    file = repository / "project" / "models" / "b.sql"
    os.mkfifo(file)
    with pytest.raises(RefusedFileError, match="it is a pipe") as refused:
        read_file(file, None if named else Boundary(repository / "project"))
    assert refused.value.code == "not-a-file"


def test_folders_and_devices_are_no_files(repository: Path) -> None:
    assert _refusal(repository / "project", "models") == "not-a-file"
    with pytest.raises(RefusedFileError, match="it is a device"):
        read_file("/dev/zero", None)


def test_a_large_file_is_not_read(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = repository / "project" / "models" / "b.sql"
    file.touch()
    os.truncate(file, 1 << 40)
    assert _refusal(repository / "project", "models/b.sql") == "too-large"
    os.truncate(file, (1 << 20) + 1)
    monkeypatch.setenv(LIMIT, "1")
    assert _refusal(repository / "project", "models/b.sql") == "too-large"
    os.truncate(file, 1 << 20)
    assert len(_read(repository / "project", "models/b.sql")) == 1 << 20


@pytest.mark.parametrize("limit", ["", "0", "-1", "many", "1" * 5000, "²"])
def test_a_limit_that_is_none_is_not_taken(repository: Path, monkeypatch: pytest.MonkeyPatch, limit: str) -> None:
    monkeypatch.setenv(LIMIT, limit)
    assert _read(repository / "project", "models/a.sql") == b"select 1"


@pytest.mark.parametrize("name", ["models/a\0.sql", "models/\ud800.sql", "\0"])
def test_a_name_that_no_file_can_have(repository: Path, name: str) -> None:
    assert _refusal(repository / "project", name) == "not-a-file"


def test_a_file_without_a_size_is_read(tmp_path: Path) -> None:
    """Those of /proc say 0."""
    if Path("/proc/self/status").exists():
        assert b"Pid:" in read_file("/proc/self/status", None)


def test_loops_and_missing_files_are_plain_errors(repository: Path) -> None:
    project = repository / "project"
    (project / "models" / "b.sql").symlink_to("b.sql")
    for path in ("models/b.sql", "models/none.sql", "models/a.sql/b.sql"):
        with pytest.raises(OSError):
            _read(project, path)


def _refusal(project: Path, path: str) -> str:
    with pytest.raises(RefusedFileError) as refused:
        _read(project, path)
    return refused.value.code
