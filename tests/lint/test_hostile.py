"""Whatever a file holds, `lint` ends within a minute with a finding or a clear problem; it never fails."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from merge_runner.cli.main import main

from .hostile import forks
from .hostile.make import (
    BROKEN,
    CHARACTERS,
    MODEL,
    ODD_FILES,
    PROJECTS,
    SAMPLE,
    SOURCES,
    STATEMENTS,
    TEMPLATES,
    Files,
    merge,
    nested,
)

pytestmark = pytest.mark.fuzz("SQL and projects for lint")

SECONDS = forks.SECONDS
LONGEST = (
    *("statements", "ephemeral models that double", "conjuncts", "the same conjunct", "an IN list", "many comments"),
    *("assignments", "the same assignment", "calls that double", "a list that doubles"),
)
"""What takes seconds: nightly, as something of the kind that takes less is slow."""
FAULTS = ("Traceback (most recent call last)", "[internal]", '"internal"', "RecursionError", "MemoryError")
PROJECT: Files = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n',
    "profiles.yml": "shop: {outputs: {dev: {schema: shop}}}\n",
}


def write(root: Path, files: Files) -> Path:
    for path, content in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass"))
    return root


def as_model(text: str) -> Files:
    return {**PROJECT, "models/sources.yml": SOURCES, "models/m.sql": text}


def as_plain(text: str) -> str:
    return text.replace("{{ this }}", "t")


def check(status: int, out: str, err: str) -> dict:
    """Holds what an invocation with --format json has said against what it owes its user; gives the report."""
    for fault in FAULTS:
        assert fault not in out, out[-2_000:]
        assert fault not in err, err[-2_000:]
    assert status in (0, 1, 2)
    if status == 2:
        assert "error: " in err
        return {"findings": []}
    report = json.loads(out)
    assert status == (1 if any(finding["severity"] == "error" for finding in report["findings"]) else 0)
    for finding in report["findings"]:
        assert finding["message"]
        assert finding["line"] >= 1
        assert finding["column"] >= 1
    return report


@pytest.fixture
def lint(monkeypatch, capfd, tmp_path):
    """`merge-runner lint` in this process."""

    def late(_signal, _frame):
        pytest.fail(f"more than {SECONDS} seconds")

    def run(root: Path, *arguments: str) -> dict:
        monkeypatch.chdir(root)
        monkeypatch.setenv("HOME", str(tmp_path))
        before = signal.signal(signal.SIGALRM, late)
        signal.alarm(SECONDS)
        try:
            with pytest.raises(SystemExit) as end:
                main(["lint", "--format", "json", *arguments])
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)
        return check(end.value.code, *capfd.readouterr())

    return run


@pytest.fixture(scope="module")
def process():
    """`merge-runner lint` as a process with bounded time and memory."""
    server = subprocess.Popen(
        [sys.executable, "-m", forks.__name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def run(root: Path, *arguments: str) -> dict:
        server.stdin.write(json.dumps([str(root), ["lint", "--format", "json", *arguments]]) + "\n")
        server.stdin.flush()
        status = json.loads(server.stdout.readline())
        return check(status, *(Path(f"{root}{end}").read_text(errors="replace") for end in (forks.OUT, forks.ERR)))

    yield run
    server.stdin.close()
    assert server.wait(SECONDS) == 0


def test_every_beginning_of_a_plain_merge(lint, tmp_path, fuzzed):
    text = as_plain(SAMPLE)
    files = {f"{cut:04}.sql": text[:cut] for cut in range(len(text))}
    fuzzed(len(files))
    report = lint(write(tmp_path / "cuts", files), ".")
    told = {finding["path"] for finding in report["findings"] if finding["severity"] == "error"}
    words = text.index(" into") + len(" into t")
    until = text.index("when matched then delete")
    assert {f"{cut:04}.sql" for cut in range(words, text.index("when matched"))} <= told
    assert f"{until:04}.sql" in {merge_["path"] for merge_ in report["merges"]}


def test_every_beginning_of_a_model(lint, tmp_path, fuzzed):
    files = {f"models/m{cut}.sql": SAMPLE[:cut] for cut in range(SAMPLE.index("}}") + 2, len(SAMPLE), 3)}
    fuzzed(len(files))
    report = lint(write(tmp_path / "cuts", {**PROJECT, **files}))
    codes = {finding["code"] for finding in report["findings"]}
    assert "C010" in codes


@pytest.mark.parametrize("cut", range(0, SAMPLE.index("}}") + 2, 7))
def test_a_model_that_ends_in_its_jinja(lint, tmp_path, cut):
    lint(write(tmp_path / "cut", {**PROJECT, "models/m.sql": SAMPLE[:cut]}))


@pytest.mark.slow
def test_odd_letters_and_broken_texts_as_plain_files(lint, tmp_path):
    texts = {**CHARACTERS, **BROKEN}
    report = lint(write(tmp_path / "odd", {f"{name}.sql": as_plain(make()) for name, make in texts.items()}), ".")
    told = {finding["path"] for finding in report["findings"]} | {each["path"] for each in report["merges"]}
    assert {f"{name}.sql" for name in ("NUL", "open brackets", "stars", "a string without end")} <= told


def test_a_finding_far_along_a_long_line(lint, tmp_path):
    text = as_plain(merge(f"{' ' * 200_000}t.id = s.id and"))
    report = lint(write(tmp_path / "long", {"long.sql": text}), "long.sql")
    assert {finding["code"] for finding in report["findings"]} == {"C010"}
    assert all(len(finding["message"]) < 1_000 for finding in report["findings"])


@pytest.mark.parametrize("kind", ["text", "concise", "github", "gitlab", "sarif", "junit"])
def test_every_output_can_show_odd_letters(lint, tmp_path, monkeypatch, capfd, kind):
    text = as_plain(merge(f"{'x' * 50_000}(t.`]]>\0\x1b🦊\u202e` = '&lt;<'"))
    root = write(tmp_path / "odd", {"🦊 &<>'\".sql": text})
    monkeypatch.chdir(root)
    with pytest.raises(SystemExit) as end:
        main(["lint", "--format", kind, "."])
    out, err = capfd.readouterr()
    assert end.value.code == 1
    assert "C010" in out
    assert not any(fault in out + err for fault in FAULTS)
    assert "\x1b" not in out


@pytest.mark.parametrize("name", ODD_FILES)
def test_an_odd_plain_file(lint, tmp_path, name):
    (tmp_path / "odd").mkdir()
    ODD_FILES[name](tmp_path / "odd" / "odd.sql")
    lint(tmp_path, "odd/odd.sql")
    lint(tmp_path, "odd")


@pytest.mark.parametrize("name", ODD_FILES)
def test_an_odd_model(lint, tmp_path, name):
    root = write(tmp_path / "shop", {**PROJECT, "models/sources.yml": SOURCES, "models/n.sql": MODEL})
    ODD_FILES[name](root / "models" / "m.sql")
    lint(root)
    lint(root, "models/m.sql")


@pytest.mark.parametrize(
    "path", ["nothing.sql", "nothing", "", "/dev/null", "a\nb.sql", "-", "*.sql", "~", "x" * 5_000]
)
def test_a_path_that_is_none(lint, tmp_path, path):
    lint(tmp_path, "--", path)


def halves(first: int) -> list:
    """All statements: half of them slow, the others nightly. Each but the longest is slow as a plain file or as a model."""

    def marks(number: int, name: str) -> pytest.MarkDecorator:
        return pytest.mark.nightly if name in LONGEST or (number + first) % 2 else pytest.mark.slow

    return [pytest.param(name, marks=marks(number, name)) for number, name in enumerate(STATEMENTS)]


def all_but_the_longest(names: Iterable[str]) -> list:
    """All as parameters: the longest nightly, the others slow."""
    return [pytest.param(name, marks=pytest.mark.nightly if name in LONGEST else pytest.mark.slow) for name in names]


@pytest.mark.parametrize("name", halves(1))
def test_a_plain_statement(process, tmp_path, name):
    write(tmp_path, {"m.sql": as_plain(STATEMENTS[name]())})
    process(tmp_path, "m.sql")


@pytest.mark.parametrize("name", halves(0))
def test_a_statement_as_model(process, tmp_path, name):
    process(write(tmp_path, as_model(STATEMENTS[name]())))


@pytest.mark.parametrize("name", all_but_the_longest(TEMPLATES))
def test_a_template(process, tmp_path, name):
    process(write(tmp_path, as_model(TEMPLATES[name]())))


@pytest.mark.parametrize("name", all_but_the_longest(PROJECTS))
def test_a_project(process, tmp_path, name):
    process(write(tmp_path, {**PROJECT, **PROJECTS[name]()}))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("text", marks=pytest.mark.slow),
        *(
            pytest.param(name, marks=pytest.mark.nightly)
            for name in ("concise", "json", "github", "gitlab", "sarif", "junit")
        ),
    ],
)
def test_many_findings_in_a_format(tmp_path, name):
    files = {f"f{number}.sql": as_plain(merge(nested(50, "t.id = s.id or t.dt = 1"))) for number in range(1_000)}
    ended = subprocess.run(
        [sys.executable, "-m", "merge_runner", "lint", "--format", name, "."],
        cwd=write(tmp_path, files),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert ended.returncode == 1
    assert not any(fault in ended.stdout + ended.stderr for fault in FAULTS)
