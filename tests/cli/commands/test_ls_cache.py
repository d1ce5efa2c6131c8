"""What `ls` has said is said again where nothing has changed, and only there."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from merge_runner.cache_folder import VARIABLE, project_store
from merge_runner.cli.main import main

FILES = {
    "pyproject.toml": '[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.vars]\nday = 1\n',
    "profiles.yml": "shop: {target: dev, outputs: {dev: {schema: a}, prod: {schema: b}}}\n",
    "models/base.sql": "select {{ var('day') }} as id, date '2024-01-01' as d\n",
    "models/m.sql": "merge into {{ this }} as t using {{ ref('base') }} as s on t.id = s.id\n"
    "when not matched then insert *\n",
    "models/all.yml": "models:\n- name: m\n  columns: [{name: id, data_type: bigint, data_tests: [not_null]}]\n"
    "  config: {meta: {since: 2024-01-01, ratio: 0.5}}\n"
    "sources: [{name: raw, freshness: {warn_after: {count: 1, period: day}}, tables: [{name: s, columns: [{name: id}]}]}]\n"
    "unit_tests: [{name: u, model: m, given: [{input: ref('base'), rows: [{id: 1}]}], expect: {rows: []}}]\n",
    "models/docs.md": "{% docs id %}The id.{% enddocs %}\n",
    "macros/f.sql": "{% macro one() %}1{% endmacro %}\n",
    "selectors.yml": "selectors: [{name: some, definition: {method: tag, value: x}}]\n",
    "seeds/numbers.csv": "id\n1\n",
    "tests/none.sql": "select * from {{ ref('m') }} where id is null\n",
}

CHANGES = {path: (path, FILES[path] + "\n") for path in FILES} | {
    "a new model": ("models/sub/n.sql", "select 1 as id"),
    "a new folder": ("models/empty/x.txt", ""),
    "a baseline": ("merge-runner-baseline.txt", ""),
    "another tool's settings": ("dbt_project.yml", "name: shop"),
    "a snapshot": ("snapshots/s.sql", "{% snapshot s %}{% endsnapshot %}"),
    "a model in Python": ("models/p.py", "def model(dbt, session): ..."),
    "a fixture": ("tests/fixtures/rows.csv", "id\n1\n"),
}


def write(root: Path, path: str, text: str) -> None:
    """Write a file of the project."""
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


def answers(root: Path, cache: Path) -> int:
    """Return how many answers of `ls` are kept: lists of lines with the names of variables that loading asked for."""
    file = project_store(root, {VARIABLE: str(cache)})
    if file is None or not file.is_file():
        return 0
    with sqlite3.connect(file) as connection:
        rows = connection.execute("select content from kept").fetchall()
    values = [json.loads(content)[2] for (content,) in rows]
    return sum(isinstance(value, list) and all(isinstance(line, str) for line in value) for value in values)


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
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    for path, text in FILES.items():
        write(tmp_path / "p", path, text)
    monkeypatch.chdir(tmp_path / "p")

    def call(*arguments):
        with pytest.raises(SystemExit):
            main(["ls", *arguments])
        found = capfd.readouterr()
        return (found.out, found.err), answers(tmp_path / "p", tmp_path / "cache")

    call.root = tmp_path / "p"
    return call


def test_each_question_has_its_own_answer(listed):
    for number, question in enumerate(QUESTIONS, 1):
        first, kept = listed(*question)
        assert (first[1], kept) == ("", number), question
    for question in QUESTIONS:
        again, kept = listed(*question)
        assert (again, kept) == (listed(*question, "--no-cache")[0], len(QUESTIONS)), question


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_file_is_looked_at(listed, change):
    question = ["--output", "json"]
    listed(*question)
    write(listed.root, *CHANGES[change])
    fresh = listed(*question, "--no-cache")[0]
    assert [listed(*question)[0], listed(*question)[0]] == [fresh, fresh]


@pytest.mark.parametrize(
    "question", [["--no-cache"], ["-s", "state:new"], ["-s", "git:HEAD"], ["--selector", "some"], ["--debug"]]
)
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
