"""What `ls` has said is said again where nothing has changed, and only there."""

from __future__ import annotations

import pytest

from merge_runner.cli.main import main
from merge_runner.plan.load.loaded_state import FOLDER
from tests.plan.test_kept_project import CHANGES, FILES, write

QUESTIONS = (
    [],
    ["-s", "m+", "--exclude", "u"],
    ["--output", "json"],
    ["--output", "json", "--output-keys", "name config"],
    ["--resource-type", "test"],
    ["-s", "m", "--indirect-selection", "empty"],
    ["-t", "prod", "--output", "json"],
)


@pytest.fixture
def listed(tmp_path, monkeypatch, capfd):
    """Return what `ls` prints in a project, and how many answers are kept then."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for path, text in FILES.items():
        write(tmp_path / "p", path, text)
    monkeypatch.chdir(tmp_path / "p")

    def call(*arguments):
        with pytest.raises(SystemExit):
            main(["ls", *arguments])
        found = capfd.readouterr()
        kept = len(list((tmp_path / "p/target" / FOLDER).glob("*.json")))
        return (found.out, found.err), kept

    call.root = tmp_path / "p"
    return call


def test_each_question_has_its_own_answer(listed):
    for number, question in enumerate(QUESTIONS, 1):
        first, kept = listed(*question)
        assert (first[1], kept) == ("", number), question
    for question in QUESTIONS:
        again, kept = listed(*question)
        assert (again, kept) == (listed(*question, "--target-path", "fresh")[0], len(QUESTIONS)), question


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_file_is_looked_at(listed, change):
    question = ["--output", "json"]
    listed(*question)
    write(listed.root, *CHANGES[change])
    fresh = listed(*question, "--target-path", "fresh")[0]
    assert [listed(*question)[0], listed(*question)[0]] == [fresh, fresh]


@pytest.mark.parametrize("question", [["-s", "state:new"], ["-s", "git:HEAD"], ["--selector", "some"], ["--debug"]])
def test_what_depends_on_more_than_the_project_is_not_kept(listed, question):
    assert listed(*question)[1] == 0


def test_what_is_said_besides_is_said_again(listed):
    first, kept = listed("-s", "unknown")
    assert (listed("-s", "unknown"), kept) == ((first, 0), 0)
    assert "unknown" in first[1]


def test_the_environment_counts_that_was_asked(listed, monkeypatch):
    write(listed.root, "models/m.sql", "{{ config(tags=['x' if env_var('REGION', '') else 'y']) }} select 1 as id")
    first, _ = listed("-s", "tag:y")
    assert listed("-s", "tag:y")[0] == first
    monkeypatch.setenv("REGION", "somewhere")
    assert "m" in listed("-s", "tag:x")[0][0].split()
    assert listed("-s", "tag:y")[0] != first


def test_what_may_hold_a_secret_is_not_kept(listed, monkeypatch):
    write(listed.root, "models/m.sql", "{{ config(tags=[env_var('REGION')]) }} select 1 as id")
    monkeypatch.setenv("REGION", "hunter2secret")
    assert listed("--output", "json")[1] == 0


def test_a_damaged_answer_is_made_again(listed):
    first, _ = listed()
    (file,) = (listed.root / "target" / FOLDER).glob("*.json")
    file.write_text(file.read_text().replace("base", "bass"))
    assert listed()[0] == first
