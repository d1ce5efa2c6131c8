"""What is wrong in all files of a project, for a client that asks for it and may have none of them open."""

import pytest

from tests.lsp.client import Editor, short
from tests.lsp.protocol.test_server import PROJECT
from tests.written_project import write_files

WRONG = PROJECT["models/fct.sql"].replace("when matched", "when mat")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("shops") / "my shop"


@pytest.fixture
def shop(root):
    return write_files(root, PROJECT | {"models/fct.sql": WRONG})


@pytest.fixture(scope="module")
def started(root):
    found = Editor(folders=[write_files(root, PROJECT)])
    yield found
    found.stop()


@pytest.fixture
def editor(started, shop):
    started.saved(shop / "models/fct.sql")
    return started


def found_in(report):
    return {each.uri.rpartition("/")[2]: short(each.items) for each in report.items if each.kind == "full"}


def test_all_files_of_the_folder_are_reported_and_again_when_one_has_changed(editor, shop):
    path = shop / "models/fct.sql"
    first = editor.run(editor.workspace())
    assert found_in(first) == {"fct.sql": ["C010 5:1"]}

    held = editor.workspace(first.items)
    editor.wait(0.3)
    assert not held.done()
    path.write_text(PROJECT["models/fct.sql"].replace("{{ in_window('t.dt') }}", "t.v = s.v"))
    editor.saved(path)
    second = editor.run(held)
    assert found_in(second) == {"fct.sql": ["K001 4:4"]}

    (shop / "macros/window.sql").write_text("{% macro in_window(column) %}")
    editor.saved(shop / "macros/window.sql")
    third = editor.run(editor.workspace(second.items))
    assert found_in(third) == {"window.sql": ["J001 1:4"]}
    assert [each.kind for each in third.items] == ["full", "unchanged"]


def test_a_project_that_cannot_be_loaded_has_the_reason(editor, shop):
    (shop / "profiles.yml").write_text("shop: [\n")

    assert found_in(editor.run(editor.workspace())) == {"profiles.yml": ["yaml-syntax 2:1"]}


def test_the_diagnostics_of_an_open_document_are_asked_for_alone(editor, shop):
    editor.open(shop / "models/fct.sql", WRONG)
    found = found_in(editor.run(editor.workspace()))
    editor.close(shop / "models/fct.sql")

    assert found == {}


@pytest.mark.parametrize("change", [True, False])
def test_a_question_that_is_open_does_not_keep_the_server(shop, change):
    editor = Editor(folders=[shop])
    if change:  # the files are not looked at yet
        editor.saved(shop / "models/fct.sql")
    held = editor.workspace()
    editor.wait(0.1)
    editor.stop()
    assert not held.done() or held.cancelled() or held.exception() is not None
