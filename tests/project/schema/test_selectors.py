"""selectors.yml."""

from __future__ import annotations

from textwrap import dedent

import pytest

from merge_runner.errors import Problems
from merge_runner.project.schema.selectors import selectors
from merge_runner.project.syntax.yaml_tree import yaml_tree
from merge_runner.text import SourceText


def read(text):
    problems = Problems()
    found = selectors(yaml_tree(SourceText("selectors.yml", text), problems), problems)
    return found, [str(problem) for problem in problems]


def texts(text):
    found, problems = read(text)
    return {name: selector.definition.text for name, selector in found.items()}, problems


@pytest.mark.parametrize(
    "text",
    [
        "nightly: tag:nightly+\nsmall: 2013",
        "selectors: {nightly: tag:nightly+, small: 2013}",
        "selectors: [{name: nightly, definition: 'tag:nightly+', description: d}, {name: small, definition: 2013}]",
    ],
)
def test_selections_are_named_in_a_mapping_or_as_in_dbt(text):
    assert texts(text) == ({"nightly": "tag:nightly+", "small": "2013"}, [])


def test_an_empty_file_names_none():
    assert read("") == ({}, [])


def test_a_mapping_of_dbt_is_read_with_its_operators():
    text = """\
        selectors:
          - name: nightly
            description: what runs at night
            default: true
            definition:
              union:
                - {method: tag, value: nightly, parents: true, parents_depth: 2, children: true}
                - {method: config.materialized, value: view, childrens_parents: true, indirect_selection: cautious}
                - intersection: [{path: models/a}, "stg_* dim_*"]
                - exclude: [{method: selector, value: other, exclude: [x]}]
          - {name: other, definition: {method: fqn, value: 2013}}
        """
    found, problems = read(dedent(text))
    assert problems == []
    nightly, other = found["nightly"], found["other"]
    assert (nightly.default, nightly.description, other.default) == (True, "what runs at night", False)
    first, second, third = nightly.definition.parts
    assert (first.text, first.place.line) == ("2+tag:nightly+", 7)
    assert (second.text, second.indirect) == ("@config.materialized:view", "cautious")
    assert (third.operation, [part.text for part in third.parts]) == ("intersection", ["path:models/a", "stg_* dim_*"])
    (excluded,) = nightly.definition.exclude
    assert (excluded.text, [part.text for part in excluded.exclude]) == ("selector:other", ["x"])
    assert other.definition.text == "fqn:2013"
    assert nightly.data["union"][0]["value"] == "nightly"


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("selectors: [{name: a, definition: {method: tag}}]", [
            'selectors.yml:1:35: selector a: "value" is missing [missing-key]\n    write {method: tag, value: nightly}'
        ]),
        ("selectors: [{name: a}]", [
            'selectors.yml:1:13: selector a: the key "definition" is missing [missing-key]'
        ]),
        ("selectors: [{definition: x}]", ['selectors.yml:1:13: a selector needs a "name", a text [invalid-value]']),
        ("selectors: [x]", ['selectors.yml:1:13: an entry of "selectors" must be a mapping, not "x" [invalid-value]']),
        ("selectors: [{name: a, definiton: x, definition: y}]", [
            'selectors.yml:1:23: selector a: unknown key "definiton" [unknown-key]\n    did you mean "definition"?'
        ]),
        ("selectors: [{name: a, definition: x}, {name: a, definition: y}]", [
            'selectors.yml:1:46: the selector "a" is defined twice [duplicate-name]\n    rename one of them'
        ]),
        ("selectors: [{name: a, default: true, definition: x}, {name: b, default: true, definition: y}]", [
            "selectors.yml:1:1: the selectors a, b are all the default [duplicate-default]\n"
            '    only one may have "default: true"'
        ]),
        ("selectors: [{name: a, default: sometimes, definition: x}]", [
            'selectors.yml:1:32: selector a: "default" must be true or false, not "sometimes" [invalid-value]'
        ]),
        ("[a]", [
            'selectors.yml:1:1: selectors.yml must be a mapping, not a list [invalid-value]\n'
            '    write "selectors:" and a list below it'
        ]),
        ("a: {union: b}", [
            'selectors.yml:1:12: selector a: "union" must be a list of definitions, not "b" [invalid-value]'
        ]),
        ("a: {union: [{exclude: [b]}]}", [
            'selectors.yml:1:12: selector a: "union" holds nothing but "exclude" [invalid-value]\n'
            "    write what is to be selected first"
        ]),
        ("a: {union: [b], intersection: [c]}", [
            "selectors.yml:1:4: selector a: union and intersection exclude each other here [invalid-value]\n"
            "    nest one of them in the other"
        ]),
        ("a: {method: tag, value: x, exclude: b}", [
            'selectors.yml:1:37: selector a: "exclude" must be a list of definitions, not "b" [invalid-value]'
        ]),
        ("a: {method: tag, value: x, exclude: false}", [
            'selectors.yml:1:37: selector a: "exclude" must be a list of definitions, not false [invalid-value]'
        ]),
        ("a: {method: tag, valu: x, value: y}", [
            'selectors.yml:1:18: selector a: unknown key "valu" [unknown-key]\n    did you mean "value"?'
        ]),
        ("a: {method: tag, value: x, parents_depth: 2}", [
            'selectors.yml:1:43: selector a: "parents_depth" needs "parents: true" [invalid-value]'
        ]),
        ("a: {method: tag, value: x, children: true, children_depth: none}", [
            'selectors.yml:1:60: selector a: "children_depth" must be a whole number above 0, not "none" '
            "[invalid-value]"
        ]),
        ("a: {method: tag, value: x, children: true, childrens_parents: true}", [
            'selectors.yml:1:38: selector a: "childrens_parents" and "children" exclude each other [invalid-value]\n'
            '    "childrens_parents" already takes all children'
        ]),
        ("a: {method: tag, value: x, indirect_selection: lazy}", [
            'selectors.yml:1:48: selector a: "indirect_selection" must be one of eager, cautious, buildable, empty, '
            'not "lazy" [invalid-value]'
        ]),
        ("a: [b]", [
            "selectors.yml:1:4: selector a: a definition must be text or a mapping, not a list [invalid-value]\n"
            "    write a selection as for --select, or a mapping with method and value, union, or intersection"
        ]),
    ],
)  # fmt: skip
def test_a_wrong_selection_is_reported_at_its_place(text, messages):
    assert read(text)[1] == messages
