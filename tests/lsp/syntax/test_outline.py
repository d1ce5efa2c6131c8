"""The outline of YAML against what YAML says."""

from pathlib import Path

import pytest
import yaml

from merge_runner.lsp.syntax.outline import Entry, cursor_at, toml_outline, yaml_outline

ROOT = Path(__file__).parents[3]
FILES = sorted((*ROOT.glob("models/**/*.yml"), *ROOT.glob("examples/*/models/*.yml"), ROOT / "profiles.yml"))


def differences(entry, value):
    """Places where the outline of a text says something else than its data; aliases and merged keys are not followed."""
    if entry.value.startswith("*") or entry.get("<<") is not None:
        return
    if isinstance(value, dict) and value:
        if [child.key for child in entry.children] != [str(key) for key in value]:
            yield entry.path, value
        for child, inner in zip(entry.children, value.values(), strict=False):
            yield from differences(child, inner)
    elif isinstance(value, list) and value:
        if [child.key for child in entry.children] != [None] * len(value):
            yield entry.path, value
        for child, inner in zip(entry.children, value, strict=False):
            yield from differences(child, inner)
    elif isinstance(value, str) and "\n" not in value and not value.startswith(entry.value.replace("''", "'")):
        yield entry.path, value


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_it_has_the_keys_and_values_of_a_file(file):
    text = file.read_text(encoding="utf-8")
    outline = yaml_outline(text)

    assert list(differences(outline, yaml.safe_load(text))) == []
    for entry in outline.walk():
        assert entry.key is None or entry.span.of(text) == entry.key
        assert entry.children or entry.value_span.of(text) in (entry.value, "[]", "{}")


TEXT = """\
models:
  - name: a
    config: {format: delta, }
    columns:
      - name: x
        d
"""


@pytest.mark.parametrize(
    ("before", "holder", "in_value"),
    [
        ("models:\n  - name: a", "models.[]", True),
        ("        d", "models.[].columns.[]", False),
        ("columns:\n      ", "models.[].columns", False),
        ("format: delta, ", "models.[].config", False),
        ("format: del", "models.[].config", True),
        ("models:\n  - na", "models.[]", False),
    ],
)
def test_a_cursor_is_in_a_mapping(before, holder, in_value):
    cursor = cursor_at(TEXT, yaml_outline(TEXT), TEXT.index(before) + len(before))

    assert (".".join(cursor.holder.path), cursor.in_value) == (holder, in_value)


def test_tables_of_toml_have_their_keys():
    text = '[tool.merge-runner]\nname = "shop"\n\n[tool.merge-runner.vars]\nfrom = 2024-01-01\nbro'
    paths = [(".".join(entry.path), entry.value) for entry in toml_outline(text).walk() if not entry.children]

    assert paths == [
        ("tool.merge-runner.name", '"shop"'),
        ("tool.merge-runner.vars.from", "2024-01-01"),
        ("tool.merge-runner.vars.bro", ""),
    ]


def test_an_empty_text_has_no_entries():
    assert list(yaml_outline("").walk()) == []
    assert isinstance(cursor_at("", yaml_outline(""), 0).holder, Entry)
