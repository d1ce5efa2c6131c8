"""What the loader says of a text of each kind of file, and the texts of the repository that it can be asked about."""

from __future__ import annotations

import ast
import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, time
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import jsonschema

from merge_runner.errors import Problem, Problems
from merge_runner.json_schemas import text as schema_text
from merge_runner.project.load.read_properties import read_properties
from merge_runner.project.load.render_properties import render_properties
from merge_runner.project.schema.config_layers import config_layer
from merge_runner.project.schema.layout_file import LayoutFileContent
from merge_runner.project.schema.profile import Output, ProfileEntry
from merge_runner.project.schema.selectors import selectors
from merge_runner.project.schema.settings import lint_settings, settings, settings_kind
from merge_runner.project.syntax.toml_tree import toml_tree
from merge_runner.project.syntax.validate import validate
from merge_runner.project.syntax.value_template import TemplateNames, ValueTemplate
from merge_runner.project.syntax.yaml_tree import YamlTree, yaml_tree
from merge_runner.text import SourceText

ROOT = Path(__file__).parents[2]
_NOT_OF_A_FILE = {"missing-env-var", "undefined-var", "unknown-doc", "value-jinja"}
"""Problems of a rendering, which depend on what is around the file."""


class Verdict(NamedTuple):
    """`data` is what the loader sees, as JSON; `problems` None: the text is no YAML or TOML, or cannot be rendered."""

    data: Any
    problems: Sequence[Problem] | None


def of_properties(tree: YamlTree, problems: Problems) -> None:
    template = ValueTemplate(tree, TemplateNames("a property file", "", {}, {}, {}), {}, problems)
    rendered = render_properties(tree, template)
    found = read_properties(rendered, problems)
    for kind in ("models", "seeds"):
        for index, entry in enumerate(getattr(found, kind, ())):
            at = (kind, index, "config")
            config_layer(entry.config, rendered, problems, at=at, of=entry.name, seed=kind == "seeds")


def of_profiles(tree: YamlTree, problems: Problems) -> None:
    """Every output of every profile, of which a run looks at one."""
    if not isinstance(tree.data, Mapping):
        problems.add("invalid-value", "not a mapping", tree.place())
        return
    template = ValueTemplate(tree, TemplateNames("a profile", ""), {}, problems)
    for name, entry in tree.data.items():
        outer = validate(ProfileEntry, entry, tree, problems, at=(name,), of=name)
        for target, output in outer.outputs.items() if outer is not None else ():
            at = (name, "outputs", target)
            validate(Output, template.render(output, at), template, problems, at=at, of=target)


def of_selectors(tree: YamlTree, problems: Problems) -> None:
    selectors(tree, problems)


def of_catalog(tree: YamlTree, problems: Problems) -> None:
    validate(LayoutFileContent, tree.data, tree, problems)


_OF_YAML: Mapping[str, Callable[[YamlTree, Problems], None]] = {
    "properties": of_properties,
    "profiles": of_profiles,
    "selectors": of_selectors,
    "catalog": of_catalog,
}


def verdict(kind: str, text: str) -> Verdict | None:
    """Return what the loader says of a text, None where it is not the text of such a file at all."""
    problems = Problems()
    source = SourceText("file", text)
    if kind == "settings":
        return _of_settings(source, problems)
    tree = yaml_tree(source, problems)
    if tree is None or problems:
        return None
    _OF_YAML[kind](tree, problems)
    if any(problem.code in _NOT_OF_A_FILE for problem in problems):
        return None
    return Verdict(as_json(tree.data), list(problems))


def _of_settings(source: SourceText, problems: Problems) -> Verdict | None:
    kind = settings_kind(source)
    tree = toml_tree(source, problems)
    if tree is None or kind is None:
        return None
    (settings if kind == "project" else lint_settings)(source, problems)
    return Verdict(as_json(tree.data["tool"]["merge-runner"]), list(problems))


def as_json(data: Any) -> Any:
    """Return data with dates as texts, as an editor sees them."""
    if isinstance(data, Mapping):
        return {key: as_json(value) for key, value in data.items()}
    if isinstance(data, list):
        return [as_json(value) for value in data]
    return data.isoformat() if isinstance(data, date | datetime | time) else data


@functools.cache
def schema(name: str) -> jsonschema.Draft7Validator:
    """Return a validator for one of the shipped schemas."""
    return jsonschema.Draft7Validator(json.loads(schema_text(name)))


def errors(name: str, data: Any) -> list[str]:
    """Return what a schema has against data."""
    return [
        f"{'.'.join(map(str, error.absolute_path))}: {error.message[:200]}" for error in schema(name).iter_errors(data)
    ]


_KEYS = {
    "properties": {"models", "seeds", "sources", "unit_tests", "macros"},
    "selectors": {"selectors"},
    "catalog": {"tables"},
}


def kind_of(text: str) -> str | None:
    """Return the schema that a text is probably meant for, None for any other text."""
    if "tool" in text and "merge-runner" in text and text.lstrip().startswith("["):
        return "settings"
    if ":" not in text:
        return None
    problems = Problems()
    tree = yaml_tree(SourceText("file", text), problems)
    if tree is None or not isinstance(tree.data, Mapping) or problems:
        return None
    for kind, keys in _KEYS.items():
        if keys & tree.data.keys():
            return kind
    return "profiles" if any(isinstance(each, Mapping) and "outputs" in each for each in tree.data.values()) else None


def texts_of_tests() -> Iterator[tuple[str, str, str]]:
    """Yield the texts in the tests' modules that are such files: where, which kind, and the text, each once."""
    seen = set()
    for file in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in seen:
                seen.add(node.value)
                text = dedent(node.value)
                if (kind := kind_of(text)) is not None:
                    yield f"{file.relative_to(ROOT)}:{node.lineno}", kind, text
