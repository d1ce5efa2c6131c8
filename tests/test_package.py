"""The wheel and the source archive, as they are released: what they contain, and that an empty environment can use them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import venv
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

import pytest
import tomli

import merge_runner
from merge_runner.version import version
from tests.environments import python_with

ROOT = Path(__file__).parents[1]
PROJECT = tomli.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
NAME = f"merge_runner-{PROJECT['version']}"
MERGE = "merge into sales.orders t using staging.orders s on t.id = s.id when matched then delete;\n"
REPOSITORY = PROJECT["urls"]["Repository"]


def test_the_version_can_be_asked_for():
    assert merge_runner.__version__ == version()


def test_addresses_are_those_of_the_repository():
    assert all(url.startswith((REPOSITORY, "https://merge-runner.github.io/")) for url in PROJECT["urls"].values())


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The folder with both archives, built as `make package` builds them."""
    folder = tmp_path_factory.mktemp("dist")
    python = python_with("build==1.*", "twine==7.*")
    for command in (["build", "--outdir", folder, ROOT], ["twine", "check", "--strict"]):
        files = sorted(folder.iterdir())
        subprocess.run([python, "-m", *command, *files], check=True, capture_output=True)
    return folder


def package_files():
    """Return the files of the package, by their paths in the repository."""
    files = (file for file in (ROOT / "merge_runner").rglob("*") if file.is_file() and file.suffix != ".pyc")
    return {str(file.relative_to(ROOT)) for file in files}


@pytest.mark.slow
def test_the_wheel_has_the_package_and_nothing_else(dist):
    with ZipFile(dist / f"{NAME}-py3-none-any.whl") as wheel:
        contents = {name: wheel.read(name) for name in wheel.namelist()}
    info = f"{NAME}.dist-info"
    own = {f"{info}/{name}" for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE")}
    assert contents.keys() == package_files() | own
    here = [path.encode() for path in (str(ROOT), sys.prefix)]
    assert [name for name, content in contents.items() if any(path in content for path in here)] == []
    readme = message_from_bytes(contents[f"{info}/METADATA"]).get_payload()
    links = re.findall(r"\]\(([^)\s]+)\)", readme)
    own_links = {kind: f"{REPOSITORY}/{kind}/v{PROJECT['version']}/" for kind in ("blob", "raw")}
    assert all(link.startswith("https://") for link in links)
    assert own_links["blob"] + "docs/getting-started/install.md" in links
    assert own_links["raw"] + "docs/assets/lint.svg" in links, "a picture is the file, not its page"
    paths = [link.removeprefix(start) for start in own_links.values() for link in links if link.startswith(start)]
    assert [path for path in paths if not (ROOT / path.partition("#")[0]).is_file()] == []


@pytest.mark.slow
def test_the_source_archive_has_what_the_wheel_is_built_from(dist):
    with tarfile.open(dist / f"{NAME}.tar.gz") as archive:
        names = {member.name.removeprefix(f"{NAME}/") for member in archive.getmembers() if member.isfile()}
    own = {"CHANGELOG.md", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml", ".gitignore"}
    assert names == package_files() | own


@pytest.mark.slow
@pytest.mark.parametrize("archive", [f"{NAME}-py3-none-any.whl", f"{NAME}.tar.gz"])
def test_an_empty_environment_lints(dist, archive, tmp_path):
    venv.create(tmp_path / "venv", with_pip=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment["HOME"] = str(tmp_path / "home")
    (tmp_path / "home").mkdir()
    (tmp_path / "orders.sql").write_text(MERGE, encoding="utf-8")

    def run(*command):
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    status, _, errors = run("venv/bin/python", "-m", "pip", "install", "--quiet", str(dist / archive))
    assert status == 0, errors
    status, out, errors = run("venv/bin/merge-runner", "lint", "--fail-on", "warning", "orders.sql")
    assert (status, errors) == (1, "")
    assert "orders.sql:1:53 warning[P001]" in out
    assert run("venv/bin/merge-runner", "--version")[:2] == (0, f"merge-runner {PROJECT['version']}\n")
