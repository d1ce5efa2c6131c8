"""Patterns of paths and selectors of selectors.yml that have no end when each part is tried again."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from merge_runner.graph.selection.methods.paths import holds_path, is_path
from tests.security.bounded_run import run
from tests.written_project import write_project

DEEP = PurePosixPath(*"abcdefghijklmnopqrstuvwxyz", *"abcdefghijklmnopqrstuvwxyz", "model.sql")


@pytest.mark.parametrize(
    ("pattern", "fits"),
    [
        ("**/" * 20 + "model.sql", True),
        ("**/" * 20 + "nothing.sql", False),
        ("**/a/" * 20 + "model.sql", False),
        ("**/*/" * 20 + "model.sql", True),
        ("**/" + "*" * 200 + "x", False),
        ("a/**/a/**/z/model.sql", True),
        ("a/**/**", True),
    ],
)
def test_a_pattern_of_paths_is_matched_name_by_name(pattern, fits):
    assert is_path(PurePosixPath(pattern), DEEP) is fits


def test_a_pattern_holds_what_is_in_a_folder_that_it_fits():
    assert holds_path(PurePosixPath("**/c"), DEEP)
    assert not holds_path(PurePosixPath("**/" * 20 + "nothing"), DEEP)


MODEL = "merge into {{ this }} t using (select 1 as id) s on t.id = s.id when not matched then insert *"
ALIASES = "\n".join(
    [
        "selectors:",
        "  - name: s",
        "    definition:",
        "      union:",
        "        - &u0 {union: [{method: tag, value: a}, {method: tag, value: b}]}",
        *(f"        - &u{i} {{union: [*u{i - 1}, *u{i - 1}]}}" for i in range(1, 11)),
    ]
)
NAMES = "\n".join(
    [
        "selectors:",
        "  - {name: n0, definition: 'tag:a'}",
        *(f"  - {{name: n{i}, definition: 'selector:n{i - 1} selector:n{i - 1}'}}" for i in range(1, 40)),
        "  - {name: s, definition: 'selector:n39'}",
    ]
)
CYCLE = "\n".join(
    [
        "selectors:",
        *(f"  - {{name: n{i}, definition: 'selector:n{(i + 1) % 40} selector:n{(i + 1) % 40}'}}" for i in range(40)),
        "  - {name: s, definition: 'selector:n0'}",
    ]
)
MANY = "selectors:\n  - {name: s, definition: '" + "tag:a " * 20_000 + "'}"
EDGES = "selectors:\n  - {name: s, definition: '" + "9" * 10_000 + "+m'}"


@pytest.mark.parametrize(
    ("selectors", "status", "message"),
    [
        pytest.param(ALIASES, 0, "", id="aliases"),
        pytest.param(NAMES, 0, "", id="names"),
        pytest.param(CYCLE, 2, "[selector-cycle]", id="cycle"),
        pytest.param(MANY, 2, "the selection has more than 10,000 criteria", id="many"),
        pytest.param(EDGES, 0, "m", id="edges"),
    ],
)
def test_a_selector_that_doubles_is_over_soon(tmp_path, selectors, status, message):
    write_project(tmp_path, "s", {"models/m.sql": MODEL, "selectors.yml": selectors})
    ended = run(tmp_path, "ls", "--selector", "s")
    assert ended.returncode == status, ended.stderr
    assert message in ended.stdout + ended.stderr


def test_the_ignored_files_of_a_rule_are_found_soon(tmp_path):
    settings = (
        f'[tool.merge-runner]\nname = "shop"\n[tool.merge-runner.lint.per-path-ignores]\n"{"**/" * 20}x" = ["C"]\n'
    )
    path = f"models/{'/'.join('abcdefghijklmnopqrstuvwxyz')}/m.sql"
    write_project(tmp_path, "s", {"pyproject.toml": settings, path: MODEL})
    assert run(tmp_path, "lint", "--no-cache").returncode in (0, 1)
