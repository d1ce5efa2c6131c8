"""git is asked about a project: what a check-out brings is no repository, and the repository of the caller is left alone."""

import os
import shutil
import subprocess
import sys

import pytest

from merge_runner.api import install_packages
from merge_runner.errors import ProblemsError
from merge_runner.git_command import run_git
from merge_runner.graph.git import changed_files, checkout
from tests.security.bounded_run import run
from tests.written_project import write_files

MODEL = "merge into t using s on t.id = s.id when matched then update set *"
SHOP = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
    "profiles.yml": "shop: {target: dev, outputs: {dev: {schema: shop, warehouse: warehouse}}}\n",
    "models/a.sql": MODEL,
}


def git(folder, *arguments):
    settings = ["user.name=t", "user.email=t@example.org", "commit.gpgsign=false", "init.defaultBranch=main"]
    flags = [part for setting in settings for part in ("-c", setting)]
    command = ["git", "-C", str(folder), *flags, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))


@pytest.fixture
def payload(tmp_path):
    """A program that leaves a file `ran` where it is started."""
    program = tmp_path / "payload"
    program.write_text(f'#!/bin/sh\ntouch "{tmp_path / "ran"}"\n')
    program.chmod(0o755)
    return program


@pytest.fixture
def repository(tmp_path):
    """A project in a clone, with one commit."""
    root = write_files(tmp_path / "clone" / "shop", SHOP)
    git(root.parent, "init", "-q")
    git(root.parent, "add", ".")
    git(root.parent, "commit", "-qm", "first")
    return root


def plant(folder, config):
    """Write the files of a bare repository with one commit, as a pull request can bring them."""
    other = folder.parent / "other"
    write_files(other, SHOP)
    git(other, "init", "-q")
    git(other, "add", ".")
    git(other, "commit", "-qm", "planted")
    for name in ("HEAD", "index", "objects", "refs"):
        source = other / ".git" / name
        shutil.copytree(source, folder / name) if source.is_dir() else shutil.copy(source, folder)
    shutil.rmtree(other)
    (folder / "config").write_text(config)


CONFIGS = {
    "fsmonitor": "[core]\nbare = false\nworktree = {work}\nfsmonitor = {payload}\n",
    "filter": '[core]\nbare = false\nworktree = {work}\nattributesFile = {work}/all\n[filter "x"]\nclean = {payload}\n',
    "external diff": "[core]\nbare = false\nworktree = {work}\n[diff]\nexternal = {payload}\n",
    "bare": "[core]\nbare = true\nfsmonitor = {payload}\n[alias]\ndiff = !{payload}\n",
}


@pytest.fixture(params=[True, False], ids=["this-git", "git-before-2.38"])
def knows_the_setting(request, tmp_path, monkeypatch):
    """Run with a git that does not know safe.bareRepository as well."""
    if request.param:
        return
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(
        f'#!{sys.executable}\nimport os, sys\nwords = [w.replace("safe.bareRepository=", "x.y=") for w in sys.argv]\n'
        f"os.execv({shutil.which('git')!r}, words)\n"
    )
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")


COMMANDS = [("lint", "--changed", "HEAD"), ("ls", "-s", "git:HEAD"), ("lint", "--changed", "HEAD", "models/a.sql")]


@pytest.mark.usefixtures("knows_the_setting")
@pytest.mark.parametrize("place", [".", ".."], ids=["project", "folder-above"])
@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_files_of_a_commit_are_no_repository(config, place, repository, payload, tmp_path):
    folder = repository
    if place == "..":  # clone/shop/inner, where clone/shop is what looks like a repository
        folder = write_files(repository / "inner", SHOP)
    write_files(repository, {"all": "* filter=x\n"})
    plant(repository, config.format(work=repository, payload=payload))
    for command in COMMANDS:
        ended = run(folder, *command)
        assert (ended.returncode, "[no-git-repository]" in ended.stderr) == (2, True), ended
    assert checkout(folder) is None
    assert not (tmp_path / "ran").exists()


def test_a_clone_with_a_planted_repository_elsewhere_is_compared(repository, payload, tmp_path):
    (repository / "fixtures").mkdir()
    plant(repository / "fixtures", CONFIGS["fsmonitor"].format(work=repository, payload=payload))
    write_files(repository, {"models/a.sql": f"{MODEL} "})
    changed = changed_files(repository, "HEAD")
    assert "models/a.sql" in changed
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("kind", ["worktree", "submodule", "separate"])
def test_a_git_folder_elsewhere_is_a_repository(kind, repository, tmp_path):
    root = tmp_path / "elsewhere"
    if kind == "worktree":
        git(repository, "worktree", "add", "-q", str(root))
        root = root / "shop"
    elif kind == "submodule":
        outer = tmp_path / "outer"
        outer.mkdir()
        git(outer, "init", "-q")
        git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository.parent), "inner")
        root = outer / "inner" / "shop"
    else:
        git(
            tmp_path,
            "clone",
            "-q",
            "--separate-git-dir",
            str(tmp_path / "kept.git"),
            str(repository.parent),
            "elsewhere",
        )
        root = root / "shop"
    assert changed_files(root, "HEAD") == frozenset()
    write_files(root, {"models/a.sql": f"{MODEL} "})
    assert changed_files(root, "HEAD") == {"models/a.sql"}


SETTINGS_OF_A_CLONE = [
    ("core.fsmonitor", "{payload}"),
    ("core.pager", "{payload}"),
    ("diff.external", "{payload}"),
    ("diff.x.textconv", "{payload}"),
    ("diff.x.command", "{payload}"),
]


def test_no_program_of_a_clone_is_needed_to_compare(repository, payload, tmp_path):
    write_files(repository, {".gitattributes": "* diff=x\n", "models/a.sql": f"{MODEL} "})
    for name, value in SETTINGS_OF_A_CLONE:
        git(repository, "config", name, value.format(payload=payload))
    hook = repository.parent / ".git/hooks/post-index-change"
    hook.parent.mkdir(exist_ok=True)
    shutil.copy(payload, hook)
    assert changed_files(repository, "HEAD") == {".gitattributes", "models/a.sql"}
    assert not (tmp_path / "ran").exists()


def test_the_settings_of_a_submodule_are_not_asked(repository, payload, tmp_path):
    outer = tmp_path / "outer"
    write_files(outer, SHOP)
    git(outer, "init", "-q")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository.parent), "inner")
    git(outer, "add", ".")
    git(outer, "commit", "-qm", "first")
    git(outer / "inner", "config", "filter.x.clean", str(payload))
    write_files(outer / "inner", {".gitattributes": "* filter=x\n", "shop/models/a.sql": f"{MODEL} "})
    assert changed_files(outer, "HEAD") == frozenset()
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def package(tmp_path):
    """A repository with a package, at the tag 1.0."""
    files = {"dbt_project.yml": "name: shared\n", "macros/m.sql": "{% macro m() %}1{% endmacro %}"}
    folder = write_files(tmp_path / "package", files)
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "package")
    git(folder, "tag", "1.0")
    return folder


OF_A_HOOK = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX")


def test_deps_in_a_hook_leaves_the_repository_of_the_hook(repository, package, monkeypatch):
    write_files(repository, {"packages.yml": f"packages: [{{git: {package}, revision: '1.0'}}]"})
    folder = repository.parent / ".git"
    values = (folder, repository.parent, folder / "index", folder, folder / "objects", "shop/")
    before = git(repository, "rev-parse", "HEAD"), git(repository, "ls-files", "--stage")
    with monkeypatch.context() as hook:
        for name, value in zip(OF_A_HOOK, values, strict=True):
            hook.setenv(name, str(value))
        [locked] = install_packages(repository)
    assert locked.commit == git(package, "rev-parse", "1.0")
    assert (git(repository, "rev-parse", "HEAD"), git(repository, "ls-files", "--stage")) == before


def test_what_a_package_brings_starts_no_program(repository, package, payload, tmp_path, monkeypatch):
    """Settings of the user are at work, where files of the package choose them: filters, hooks, submodules."""
    settings = tmp_path / "gitconfig"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    shutil.copy(payload, hooks / "post-checkout")
    settings.write_text(
        f'[core]\nhooksPath = {hooks}\nfsmonitor = {payload}\n[filter "x"]\nsmudge = {payload}\nclean = {payload}\n'
        f'[submodule]\nrecurse = true\n[protocol "ext"]\nallow = always\n'
    )
    write_files(
        package,
        {
            ".gitattributes": "*.sql filter=x\n",
            ".gitmodules": f'[submodule "x"]\npath = x\nurl = "ext::{payload}"\n',
        },
    )
    git(package, "add", ".")
    git(package, "update-index", "--add", "--cacheinfo", f"160000,{git(package, 'rev-parse', 'HEAD')},x")
    git(package, "commit", "-qm", "second")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    write_files(repository, {"packages.yml": f"packages: [{{git: {package}, revision: main}}]"})
    install_packages(repository)
    assert (repository / "dbt_packages/shared/macros/m.sql").read_text() == "{% macro m() %}1{% endmacro %}"
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("address", "revision"),
    [
        ("ext::{payload}", "main"),
        ("--upload-pack={payload}", "main"),
        ("-c", "main"),
        ("ssh://-oProxyCommand={payload}/x", "main"),
        ("{package}", "--upload-pack={payload}"),
        ("{package}", "-f"),
        ("{package}", "+refs/heads/main:refs/heads/x"),
        ("{package}", "main other"),
        ("{package}", "HEAD\\n-x"),
    ],
)
def test_an_address_or_a_revision_is_no_option(address, revision, repository, package, payload, tmp_path, monkeypatch):
    settings = tmp_path / "gitconfig"
    settings.write_text('[protocol "ext"]\nallow = always\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    words = {"payload": payload, "package": package}
    entry = f'{{git: "{address.format(**words)}", revision: "{revision.format(**words)}"}}'
    write_files(repository, {"packages.yml": f"packages: [{entry}]"})
    with pytest.raises(ProblemsError) as error:
        install_packages(repository)
    assert {problem.code for problem in error.value.problems} <= {"unknown-package", "package-failed"}
    assert not (tmp_path / "ran").exists()


def test_one_function_starts_git(repository):
    assert run_git(repository, "rev-parse", "--show-prefix").stdout == b"shop/\n"
    starts = git_starts()
    assert starts == ["merge_runner/git_command.py"]


def git_starts():
    """Return the modules that name git as a program."""
    from pathlib import Path

    import merge_runner

    package = Path(merge_runner.__file__).parent
    files = sorted(package.rglob("*.py"))
    return [file.relative_to(package.parent).as_posix() for file in files if '["git"' in file.read_text("utf-8")]
