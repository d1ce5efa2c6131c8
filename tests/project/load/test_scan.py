"""Walking over the folders of a project."""

from __future__ import annotations

import pytest

from merge_runner.errors import Problems
from merge_runner.project.load.scan import scan


@pytest.fixture
def tree(tmp_path):
    """Makes files, and links by their targets; walks over them."""

    def tree(files, links=(), start="m", **arguments):
        for path in files:
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).touch()
        for path, target in dict(links).items():
            (tmp_path / path).symlink_to(target)
        problems = Problems()
        folders = list(scan(str(tmp_path), start, problems, **arguments))
        return folders, [str(problem).split("\n")[0] for problem in problems]

    return tree


def paths(folders):
    return [folder.join(name) for folder in folders for name in folder.files]


def test_files_come_folder_by_folder_in_the_order_of_names(tree):
    folders, problems = tree(["m/b.sql", "m/a.sql", "m/z/1.sql", "m/c/2.sql", "m/c/d/3.sql", "other/x.sql"])
    assert paths(folders) == ["m/a.sql", "m/b.sql", "m/c/2.sql", "m/c/d/3.sql", "m/z/1.sql"]
    assert [folder.parts for folder in folders] == [(), ("c",), ("c", "d"), ("z",)]
    assert problems == []


def test_paths_from_the_root_itself_have_no_dot(tree):
    assert paths(tree(["a.sql", "m/b.sql"], start=".")[0]) == ["a.sql", "m/b.sql"]


def test_a_folder_that_is_not_there_holds_nothing(tree):
    assert tree([]) == ([], [])


def test_a_file_in_place_of_a_folder_cannot_be_read(tree):
    assert tree(["m"]) == ([], ["m:1:1: cannot be read: Not a directory [unreadable]"])


def test_links_that_lead_to_each_other_are_told_and_end(tree):
    folders, problems = tree(["m/a/1.sql", "m/b/2.sql"], {"m/a/to_b": "../b", "m/b/to_a": "../a"})
    assert "m/a/to_b/2.sql" in paths(folders)
    assert problems == [
        "m/a/to_b/to_a:1:1: this link leads back to a folder that holds it [symlink-loop]",
        "m/b/to_a/to_b:1:1: this link leads back to a folder that holds it [symlink-loop]",
    ]


def test_a_link_to_itself_is_a_file_that_cannot_be_read_later(tree):
    assert paths(tree(["m/a.sql"], {"m/loop.sql": "loop.sql"})[0]) == ["m/a.sql", "m/loop.sql"]


def test_named_paths_and_hidden_names_are_left_out(tree):
    folders, _ = tree(["m/a.sql", "m/target/b.sql", "m/.git/c.sql", "m/.d.sql"], skip=frozenset({"m/target"}))
    assert paths(folders) == ["m/a.sql"]


def test_folders_of_python_files_are_left_out_below_the_start(tree):
    files = ["m/conftest.py", "m/a.sql", "m/p/test_x.py", "m/p/b.sql", "m/p/q/c.sql", "m/r/d.sql"]
    assert paths(tree(files, skip_python=True)[0]) == ["m/a.sql", "m/conftest.py", "m/r/d.sql"]
