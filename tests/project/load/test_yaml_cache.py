"""YAML that an earlier run has read says what it says when it is read again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from merge_runner.errors import Problems
from merge_runner.project.load.yaml_cache import YamlCache
from merge_runner.store import Store
from merge_runner.text import SourceText

FILE = "kept.sqlite"
TEXT = "models:\n  - {name: a, meta: {n: 1.10, b: true, x: ~, t: '1'}}\n  - name: b\n    description: |\n      long\n"
PATHS = [(), ("models",), ("models", 0, "name"), ("models", 1, "description"), ("models", 0, "meta", "n"), ("other",)]


def read(file, text, path="a.yml"):
    """Return the data and places of a text, and how many contributions are kept of it."""
    problems = Problems()
    kept = Store(file)
    tree = YamlCache(kept, problems).tree(SourceText(path, text))
    new = len(kept._new)
    kept.write(100)
    said = [(tree.place(at), tree.key_place(at), tree.text(at), tree.text_place(at, 2)) for at in PATHS] if tree else []
    return repr(tree.data) if tree else None, said, [str(problem) for problem in problems], new


def test_it_is_read_once(tmp_path):
    first, second = (read(tmp_path / FILE, TEXT) for _ in range(2))
    assert (first[:3], first[3], second[3]) == (second[:3], 1, 0)
    changed = read(tmp_path / FILE, TEXT.replace("name: b", "name: c"))
    assert "'c'" in changed[0]
    assert changed[3] == 1


@pytest.mark.parametrize(
    "text",
    [
        "a: 2024-01-01\n",
        "a: &x [1]\nb: *x\n",
        "a: 1\na: 2\n",
        "options: {key: x}\n",
        "u: s3://u:p4ss@h/\n",
        "token: x\n",
    ],
)
def test_what_is_read_each_time(tmp_path, text):
    assert [read(tmp_path / FILE, text)[3] for _ in range(2)] == [0, 0]


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text("ab: #'\"\n1.é", max_size=6)
values = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text("abc"), inner), max_leaves=8)


@given(values)
def test_any_data_is_the_same(tmp_path_factory, value):
    import yaml

    file = tmp_path_factory.mktemp("kept") / FILE
    text = yaml.safe_dump({"models": [value]}, allow_unicode=True)
    assert read(file, text)[:3] == read(file, text)[:3]
