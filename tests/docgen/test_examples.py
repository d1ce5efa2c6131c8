"""The examples in the texts of the generated pages are what the readers of these files accept."""

from __future__ import annotations

import re

import yaml

from merge_runner.errors import Problems
from merge_runner.project.load.read_properties import read_properties
from merge_runner.project.schema.profile import read_profile
from merge_runner.project.schema.selectors import selectors
from merge_runner.project.schema.settings import settings
from merge_runner.project.syntax.yaml_tree import yaml_tree
from merge_runner.text import SourceText
from tools.docgen import pages


def _examples(page: str, language: str, first: str) -> list[str]:
    """The code blocks of a page that begin with a key."""
    blocks = re.findall(rf"```{language}\n(.*?)```", pages.pages()[f"docs/reference/{page}"], re.DOTALL)
    return [block for block in blocks if block.startswith(first)]


def _messages(problems: Problems) -> list[str]:
    return [str(problem) for problem in problems]


def test_property_files():
    (example,) = _examples("yaml.md", "yaml", "models:")
    (tests,) = _examples("yaml.md", "yaml", "data_tests:")
    with_tests = yaml.safe_dump({"models": [{"name": "m", "columns": [{"name": "c", **yaml.safe_load(tests)}]}]})
    for text in (example, with_tests, *_examples("configuration.md", "yaml", "models:")):
        problems = Problems()
        tree = yaml_tree(SourceText("models/schema.yml", text), problems)
        assert tree is not None
        assert read_properties(tree, problems) is not None
        assert _messages(problems) == []


def test_selectors():
    (example,) = _examples("yaml.md", "yaml", "selectors:")
    problems = Problems()
    tree = yaml_tree(SourceText("selectors.yml", example), problems)
    assert tree is not None
    assert list(selectors(tree, problems)) == ["nightly"]
    assert _messages(problems) == []


def test_profiles(tmp_path):
    (example,) = _examples("profiles.md", "yaml", "shop:")
    (tmp_path / "profiles.yml").write_text(example, encoding="utf-8")
    for target in ("local", "prod"):
        problems = Problems()
        profile = read_profile(tmp_path, "shop", problems, env={}, target=target)
        assert _messages(problems) == []
        assert profile is not None
        assert profile.schema == "shop"


def test_settings():
    examples = _examples("settings.md", "toml", "[tool.merge-runner]")
    (of_folder,) = _examples("configuration.md", "toml", "[tool")
    for text in (*examples, f'[tool.merge-runner]\nname = "shop"\n{of_folder}'):
        problems = Problems()
        found = settings(SourceText("pyproject.toml", text), problems)
        assert _messages(problems) == []
        assert found is not None
        assert found.name == "shop"
