import os
import subprocess
from pathlib import Path

import pytest

from merge_runner.errors import ProblemsError
from merge_runner.graph.git import changed_files
from merge_runner.graph.selection.select import SelectionContext, select


def git(folder, *arguments):
    settings = ["user.name=t", "user.email=t@example.org", "commit.gpgsign=false", "core.hooksPath=/dev/null"]
    flags = [part for setting in settings for part in ("-c", setting)]
    command = ["git", "-C", str(folder), *flags, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def write(root, path, text="x"):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


FILES = [
    "pyproject.toml",
    "models/a.sql",
    "models/b.sql",
    "models/c.sql",
    "models/schema.yml",
    "macros/m.sql",
    "data/flight/part.csv",
]


@pytest.fixture(autouse=True)
def no_settings_of_the_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))


@pytest.fixture(params=[".", "projects/shop"], ids=["project-is-repository", "project-is-a-folder"])
def project(request, tmp_path):
    git(tmp_path, "init", "-q", "-b", "main")
    root = tmp_path / request.param
    for file in FILES:
        write(root, file)
    write(tmp_path, ".gitignore", "target/\n")
    write(tmp_path, "outside.sql")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    return root


def test_an_unchanged_work_tree_has_no_changed_files(project):
    assert changed_files(project, "HEAD") == frozenset()


def test_committed_staged_unstaged_deleted_and_untracked_files_count_ignored_ones_do_not(project):
    write(project, "models/a.sql", "committed")
    git(project, "commit", "-q", "-a", "-m", "second")
    write(project, "models/b.sql", "staged")
    git(project, "add", "models/b.sql")
    write(project, "macros/m.sql", "not staged")
    (project / "models/c.sql").unlink()
    write(project, "models/new.sql")
    write(project, "target/manifest.json")
    changed = {"models/a.sql", "models/b.sql", "macros/m.sql", "models/c.sql", "models/new.sql"}
    assert changed_files(project, "HEAD~1") == changed
    assert changed_files(project, "HEAD") == changed - {"models/a.sql"}


def test_both_names_of_a_renamed_file_count(project):
    git(project, "mv", "models/a.sql", "models/renamed.sql")
    assert changed_files(project, "main") == {"models/a.sql", "models/renamed.sql"}


def test_names_with_spaces_quotes_newlines_and_other_scripts_come_as_they_are(project):
    names = {"models/two words.sql", 'models/"quoted".sql', "models/two\nlines.sql", "models/größe_値.sql"}
    for name in names:
        write(project, name)
    assert changed_files(project, "HEAD") == names
    git(project, "add", ".")
    assert changed_files(project, "HEAD") == names


def test_a_tag_a_branch_and_a_hash_name_a_commit(project):
    git(project, "tag", "-a", "v1", "-m", "tagged")
    git(project, "branch", "feature/x")
    write(project, "models/a.sql", "later")
    for ref in ("v1", "feature/x", git(project, "rev-parse", "HEAD"), "main@{0}", "@"):
        assert changed_files(project, ref) == {"models/a.sql"}


def test_a_file_named_like_the_ref_does_not_confuse_git(project):
    write(project, "main")
    assert changed_files(project, "main") == {"main"}


def test_the_repository_of_a_calling_hook_is_not_the_one_that_is_asked(project, monkeypatch, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    write(project, "models/a.sql", "changed")
    assert changed_files(project, "HEAD") == {"models/a.sql"}


@pytest.mark.parametrize("ref", ["--output=stolen.txt", "-p", "--", "", "a\0b"])
def test_a_ref_that_looks_like_an_option_never_reaches_git(project, ref):
    with pytest.raises(ProblemsError) as error:
        changed_files(project, ref)
    assert [problem.code for problem in error.value.problems] == ["bad-git-ref"]
    assert not (project / "stolen.txt").exists()


@pytest.mark.parametrize(
    "ref", ["no-such-branch", "HEAD~99", "^main", "main..main", "HEAD:models/a.sql", "models/a.sql"]
)
def test_what_names_no_single_commit_is_an_unknown_ref(project, ref):
    with pytest.raises(ProblemsError) as error:
        changed_files(project, ref)
    assert [problem.code for problem in error.value.problems] == ["unknown-git-ref"]
    assert f'"{ref}"' in error.value.problems[0].message


def test_outside_a_repository_the_error_says_what_git_said(tmp_path):
    with pytest.raises(ProblemsError) as error:
        changed_files(tmp_path, "main")
    assert [problem.code for problem in error.value.problems] == ["no-git-repository"]
    assert "not a git repository" in error.value.problems[0].message


def test_a_machine_without_git_is_told_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProblemsError) as error:
        changed_files(tmp_path, "main")
    assert [problem.code for problem in error.value.problems] == ["no-git"]


@pytest.fixture
def graph(graph_of):
    return graph_of(
        [
            {"name": "raw.flight", "type": "source", "path": "models/sources.yml", "files": ["./data/flight/"]},
            {"name": "raw.plane", "type": "source", "path": "models/sources.yml", "files": ["data/planes_*.csv"]},
            {"name": "raw.away", "type": "source", "path": "models/sources.yml", "files": ["s3://bucket/data"]},
            {"name": "a", "parents": ["raw.flight"]},
            {"name": "b", "parents": ["a"], "yml": "models/schema.yml"},
            {"name": "c", "parents": ["b"], "macros": ["outer"]},
            {"name": "unique_b", "type": "test", "calls": "unique", "path": "models/schema.yml", "parents": ["b"]},
        ],
        macros=[
            {"name": "inner", "path": "macros/m.sql"},
            {"name": "outer", "path": "macros/outer.sql", "macros": ["inner"]},
        ],
    )


EVERYTHING = {"raw.flight", "raw.plane", "raw.away", "a", "b", "c", "unique_b"}


def selected(graph, project, text):
    selection = select(graph, SelectionContext(project), [text])
    return {unique_id.partition(".shop.")[2] for unique_id in selection.ids}, [w.code for w in selection.warnings]


@pytest.mark.parametrize(
    ("changed", "text", "names"),
    [
        ([], "git:HEAD", set()),
        (["models/a.sql"], "git:HEAD", {"a"}),
        (["models/a.sql"], "git:HEAD+", {"a", "b", "c", "unique_b"}),
        (["models/a.sql"], "git:HEAD+1", {"a", "b", "unique_b"}),
        (["models/b.sql"], "1+git:main", {"a", "b", "unique_b"}),
        (["models/a.sql", "models/c.sql"], "git:HEAD", {"a", "c"}),
        (["models/a.sql", "models/c.sql"], "git:HEAD,c", {"c"}),
        (["models/schema.yml"], "git:HEAD", {"b", "unique_b"}),
        (["macros/m.sql"], "git:HEAD", {"c"}),
        (["data/flight/part.csv"], "git:HEAD", {"raw.flight"}),
        (["data/flight/more.csv"], "git:HEAD+1", {"raw.flight", "a"}),
        (["data/planes_2013.csv"], "git:HEAD", {"raw.plane"}),
        (["data/flights.csv"], "git:HEAD", set()),
        (["README.md", "outside/x.sql"], "git:HEAD", set()),
        (["pyproject.toml"], "git:HEAD", EVERYTHING),
        (["profiles.yml"], "git:HEAD", EVERYTHING),
    ],
)
def test_git_selects_what_a_changed_file_concerns(graph, project, changed, text, names):
    for path in changed:
        write(project, path, "changed")
    assert selected(graph, project, text) == (names, [])


def test_a_profile_elsewhere_in_the_project_concerns_everything_too(graph, project):
    write(project, "conf/profiles.yml")
    context = SelectionContext(project, project_files=("pyproject.toml", "conf/profiles.yml"))
    assert set(select(graph, context, ["git:HEAD"]).ids) == set(graph.nodes)


def test_a_deleted_properties_file_is_warned_of_since_nothing_says_what_it_described(graph, project):
    (project / "models/schema.yml").rename(project / "models/other.yml")
    write(project, "other/workflow.yml")
    git(project, "add", ".")
    assert selected(graph, project, "git:HEAD") == ({"b", "unique_b"}, ["deleted-properties"])


def test_an_unknown_ref_in_a_selection_is_an_error(graph, project):
    with pytest.raises(ProblemsError, match="unknown-git-ref"):
        select(graph, SelectionContext(Path(project)), ["git:nowhere+"])
