"""selectors.yml."""

from __future__ import annotations

import pytest

from merge_runner.errors import Problems
from merge_runner.project.selectors import selectors
from merge_runner.project.yaml_tree import yaml_tree
from merge_runner.text import SourceText


def read(text):
    problems = Problems()
    found = selectors(yaml_tree(SourceText("selectors.yml", text), problems), problems)
    return found, [str(problem) for problem in problems]


@pytest.mark.parametrize(
    "text",
    [
        "nightly: tag:nightly+\nsmall: 2013",
        "selectors: {nightly: tag:nightly+, small: 2013}",
        "selectors: [{name: nightly, definition: 'tag:nightly+', description: d}, {name: small, definition: 2013}]",
    ],
)
def test_selections_are_named_in_a_mapping_or_as_in_dbt(text):
    assert read(text) == ({"nightly": "tag:nightly+", "small": "2013"}, [])


def test_an_empty_file_names_none():
    assert read("") == ({}, [])


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("selectors: [{name: a, definition: {method: tag}}]", [
            'selectors.yml:1:35: selector a: "definition" must be text, not a mapping [invalid-value]'
        ]),
        ("selectors: [{name: a, definition: x}, {name: a, definition: y}]", [
            'selectors.yml:1:46: the selector "a" is defined twice [duplicate-name]\n    rename one of them'
        ]),
        ("[a]", ["selectors.yml:1:1: this must be a mapping, not a list [invalid-value]"]),
        ("a: {union: [b]}", ['selectors.yml:1:4: "a" must be text, not a mapping [invalid-value]']),
    ],
)  # fmt: skip
def test_a_wrong_selection_is_told_at_its_place(text, messages):
    assert read(text)[1] == messages
