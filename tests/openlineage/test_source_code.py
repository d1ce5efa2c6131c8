"""The place of a model in its repository."""

import subprocess

import pytest

from merge_runner.graph.git import checkout
from merge_runner.openlineage.node_facts import web_address


@pytest.mark.parametrize(
    ("url", "page"),
    [
        ("https://github.com/shop/models.git", "https://github.com/shop/models"),
        ("git@github.com:shop/models.git", "https://github.com/shop/models"),
        ("ssh://git@gitlab.example.com:2222/data/shop/models.git", "https://gitlab.example.com/data/shop/models"),
        ("http://forge.example.com/shop/models/", "http://forge.example.com/shop/models"),
        ("/srv/git/models.git", None),
    ],
)
def test_the_page_of_a_repository(url, page):
    assert web_address(url) == page


def test_what_is_checked_out(tmp_path):
    def git(*words):
        identity = ("-c", "user.name=ann", "-c", "user.email=ann@example.com", "-c", "init.defaultBranch=main")
        done = subprocess.run(
            ["git", "-C", str(tmp_path), *identity, *words], check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    project = tmp_path / "models"
    project.mkdir()
    (project / "a.sql").write_text("select 1")
    assert checkout(project) is None
    git("init", "-q")
    git("add", ".")
    git("commit", "-qm", "first")
    assert checkout(project) is None, "no remote"
    git("remote", "add", "origin", "https://ann:secret@github.com/shop/models.git")
    found = checkout(project)
    assert (found.url, found.branch, found.prefix) == ("https://github.com/shop/models.git", "main", "models/")
    assert found.commit == git("rev-parse", "HEAD")
