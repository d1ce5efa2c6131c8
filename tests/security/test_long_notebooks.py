"""Notebooks and files of code that are megabytes long: memory is bounded by their size, what is too long is named."""

from __future__ import annotations

import json

import pytest

from tests.security.bounded_run import run

MERGE = "merge into t using s on t.a = s.a when matched then delete"
CALL = f'spark.sql("{MERGE}")\n'
MEMORY = 530 * 2**20
"""Of addresses: a command that does nothing takes 180 MB of them."""
TOO_LONG = {
    "comment": ("python", "# " + "a" * 8_000_000 + "\n" + CALL),
    "newlines": ("python", "\n" * 4_000_000 + CALL),
    "statements": ("python", "a = 1\n" * 200_000 + CALL),
    "text": ("python", "a = '" + "a" * 2_000_000 + "'\n" + CALL),
    "sql_comment": ("sql", "-- " + "a" * 2_000_000 + "\n" + MERGE),
    "sql_newlines": ("sql", "\n" * 4_000_000 + MERGE),
    "scala_comment": ("scala", "// " + "a" * 2_000_000 + "\n" + CALL),
}
LONG = {
    "comment": ("python", "# " + "a" * 400_000 + "\n" + CALL),
    "sql_comment": ("sql", "-- " + "a" * 400_000 + "\n" + MERGE),
    "sql_quotes": ("sql", "select '" + "''" * 200_000 + "';\n" + MERGE),
    "sql_newlines": ("sql", "\n" * 400_000 + MERGE),
    "scala_comment": ("scala", "// " + "a" * 400_000 + "\n" + CALL),
}
SUFFIXES = {"python": "py", "scala": "scala"}
REASON = "lint does not follow this code: it has more than 500,000 characters"


def notebook(language, *cells):
    listed = [{"cell_type": "code", "source": cell} for cell in cells]
    return json.dumps({"cells": listed, "metadata": {"language_info": {"name": language}}})


def report(folder, name, text):
    (folder / name).write_text(text)
    ended = run(folder, "lint", "--no-cache", "--format", "json", name, memory=MEMORY)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.parametrize("name", TOO_LONG)
def test_a_notebook_that_is_too_long_is_named(tmp_path, name):
    found = report(tmp_path, "a.ipynb", notebook(*TOO_LONG[name]))
    assert [(each["path"], each["reason"]) for each in found["not_judged"]] == [("a.ipynb", REASON)]


@pytest.mark.parametrize("name", [name for name, (language, _) in TOO_LONG.items() if language in SUFFIXES])
def test_a_file_of_code_that_is_too_long_is_named(tmp_path, name):
    language, code = TOO_LONG[name]
    found = report(tmp_path, f"a.{SUFFIXES[language]}", code)
    assert [each["reason"] for each in found["not_judged"]] == [REASON]


def test_the_cells_of_a_notebook_are_too_long_together(tmp_path):
    found = report(tmp_path, "a.ipynb", notebook("python", *["# " + "a" * 100_000] * 6, CALL))
    assert [(each["cell"], each["reason"]) for each in found["not_judged"]] == [(7, REASON)]


def test_what_is_no_code_in_a_notebook_does_not_count(tmp_path):
    data = json.loads(notebook("python", CALL))
    data["cells"][0]["outputs"] = [{"data": {"image/png": "a" * 4_000_000}}]
    data["cells"].append({"cell_type": "markdown", "source": "a" * 1_000_000})
    assert len(report(tmp_path, "a.ipynb", json.dumps(data))["merges"]) == 1


@pytest.mark.parametrize("name", LONG)
def test_a_long_notebook_is_read(tmp_path, name):
    found = report(tmp_path, "a.ipynb", notebook(*LONG[name]))
    assert len(found["merges"]) == 1
    assert not found["not_judged"]
