"""What is inserted into a YAML text is read there, and nothing else changes."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.lsp.syntax.yaml_insertion import New, YamlDocument
from tests.yaml_data import read_yaml

CASES = read_yaml(Path(__file__).with_suffix("").with_name("yaml_insertion.yml"))


def inserted(text, insertion):
    return text[: insertion.offset] + insertion.text + text[insertion.offset :]


def new(item):
    return New.mapping({key: New.scalar(value) for key, value in item.items()})


@pytest.mark.parametrize("case", [pytest.param(case, id=case["what"]) for case in CASES])
def test_items_are_inserted(case):
    document = YamlDocument(case["text"])
    holder = document.find(document.value(document.root, case["at"][0]), case["at"][1]) if case["at"] else document.root
    found = document.items_of(holder, case["key"], [new(item) for item in case["items"]])
    assert (found and inserted(case["text"], found)) == case["expected"]


def test_a_key_after_another():
    text = "- name: id  # the key\n  description: x\n- {name: v, description: y}\n"
    document = YamlDocument(text)
    first, second = document.items(document.root)
    added = New.scalar("decimal(5,2)")
    assert inserted(text, document.key(first, "data_type", added, after="name")).split("\n")[1] == (
        "  data_type: decimal(5,2)"
    )
    assert inserted(text, document.key(second, "data_type", added, after="name")).split("\n")[2] == (
        "- {name: v, data_type: 'decimal(5,2)', description: y}"
    )


WORDS = st.sampled_from(["a", "b c", "yes", "1", "x: y", "# no", "", "[", "'", "a\nb", "ä😀", "- a"])
NESTED = st.recursive(
    WORDS | st.none() | st.integers(0, 9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["a", "b", "columns"]), NESTED, max_size=3), st.booleans(), WORDS)
def test_any_document_has_the_new_item_and_is_as_before(data, is_flow, name):
    text = yaml.safe_dump(data, default_flow_style=is_flow, sort_keys=False, allow_unicode=True)
    document = YamlDocument(text)
    found = document.items_of(document.root, "columns", [New.mapping({"name": New.scalar(name)})])
    before = data.get("columns")
    if found is None:
        written = "columns" in data and not isinstance(before, list)  # `null` would have to go
        assert written or (is_flow and not before) or not data
        return
    assert yaml.safe_load(inserted(text, found)) == {**data, "columns": [*(before or []), {"name": name}]}
