"""Jinja in the values of a YAML file: `{{ env_var('X', 'default') }}`, and in property files `var` and `target`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from merge_runner.errors import Problems, did_you_mean
from merge_runner.project.syntax.environment import ALLOW, NOT_ALLOWED, EnvVar, WithheldValue
from merge_runner.project.syntax.places import KeyPath, Places
from merge_runner.project.syntax.yaml_scalar import plain_scalar
from merge_runner.text import Place

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

_NOTHING: Any = object()
_ONE_EXPRESSION = re.compile(r"\s*\{\{(?:(?!\}\}).)*\}\}\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class TemplateNames:
    """What the Jinja of a kind of file knows in addition to `env_var`; `file` and `hint` name it in messages."""

    file: str
    hint: str
    vars: Mapping[str, Any] | None = None
    """The values of `var`; None: the file does not know it."""
    target: Mapping[str, Any] | None = None
    docs: Mapping[str, str] | None = None
    """The texts of `doc`, for descriptions."""


class ValueTemplate:
    """Renders texts in the values of a YAML file. No message holds a value: it may be a secret.

    It is itself the places of what it renders, so that text fields get a variable's value as it is.
    """

    def __init__(self, places: Places, names: TemplateNames, env: Mapping[str, str], problems: Problems) -> None:
        self._places = places
        self._names = names
        self._env = env
        self._problems = problems
        self.rendered: dict[KeyPath, str] = {}
        """What texts rendered to, by their paths."""
        self.used: dict[str, str] = {}
        """The environment variables that were read, with their values."""
        self.env_vars: dict[KeyPath, list[str]] = {}
        """Names of the environment variables that texts asked for, by their paths."""
        self._at: KeyPath = ()

    def place(self, path: KeyPath = ()) -> Place | None:
        """The place of the value at `path`."""
        return self._places.place(path)

    def key_place(self, path: KeyPath) -> Place | None:
        """The place of the key at `path`."""
        return self._places.key_place(path)

    def text(self, path: KeyPath) -> str | None:
        """What the value at `path` rendered to, else how it was written."""
        return self.rendered[path] if path in self.rendered else self._places.text(path)

    def render(self, data: Any, at: KeyPath) -> Any:
        """Return `data`, which is at the path `at`, with every text rendered.

        A text that is one expression gives what YAML reads in its result: "{{ env_var('THREADS', '4') }}" is 4.
        """
        if isinstance(data, Mapping):
            return {key: self.render(value, (*at, key)) for key, value in data.items()}
        if isinstance(data, list):
            return [self.render(value, (*at, index)) for index, value in enumerate(data)]
        if not isinstance(data, str) or ("{{" not in data and "{%" not in data):
            return data
        text = self._rendering(data, at)
        if text is None:
            return None
        self.rendered[at] = text
        return plain_scalar(text) if _ONE_EXPRESSION.match(data) else text

    def describe(self, text: Any, at: KeyPath) -> Any:
        """Return the description `text`, which is at the path `at`, rendered; whatever it renders to is a text."""
        if not isinstance(text, str) or ("{{" not in text and "{%" not in text):
            return text
        description = self._rendering(text, at)
        if description is None:
            return None
        self.rendered[at] = description
        return description

    def _rendering(self, text: str, at: KeyPath) -> str | None:
        from jinja2 import TemplateError, meta

        key = f'"{at[-1]}"'
        place = self._places.place(at)
        self._at = at
        try:
            tree = self._environment.parse(text)
        except TemplateError:
            self._problems.add("value-jinja", f"the Jinja of {key} cannot be parsed", place)
            return None
        # Before anything else looks at it: Jinja computes constants while it compiles.
        if (refused := _refused_part(tree)) is not None:
            hint = "a value may choose and join; move what computes or repeats to a macro"
            self._problems.add("value-jinja", f"the Jinja of {key} uses {refused}, which a value may not", place, hint)
            return None
        unknown = sorted(meta.find_undeclared_variables(tree) - self._environment.globals.keys())
        if unknown:
            names = ", ".join(f'"{name}"' for name in unknown)
            message = f"{key} uses {names}, which {self._names.file} does not know"
            self._problems.add("value-jinja", message, place, self._names.hint)
            return None
        try:
            return self._environment.from_string(tree).render()
        except _UnsetError as unset:
            message = f'{key} needs the var "{unset.name}", which is not set and has no default'
            hint = f"""pass it with --vars '{{"{unset.name}": …}}', or declare it in [tool.merge-runner.vars]"""
            self._problems.add("undefined-var", message, place, hint)
        except _UnknownDocError as no_doc:
            message = f'there is no docs block "{no_doc.name}"'
            near = did_you_mean(no_doc.name, self._names.docs or ())
            hint = near or f"write {{% docs {no_doc.name} %}} … {{% enddocs %}} in a .md file of the model paths"
            self._problems.add("unknown-doc", message, place, hint)
        except _MissingError as missing:
            state = f"{ALLOW} does not list" if missing.is_refused else "is not set"
            message = f"{key} needs the environment variable {missing.name}, which {state}"
            remedy = f"list it in {ALLOW}" if missing.is_refused else "set it"
            hint = f"{remedy}, or give a default: env_var('{missing.name}', '…')"
            self._problems.add("missing-env-var", message, place, hint)
        except Exception as error:  # whatever a filter raises may quote the value
            message = f"the Jinja of {key} cannot be rendered ({type(error).__name__})"
            self._problems.add("value-jinja", message, place)
        return None

    @cached_property
    def _environment(self) -> SandboxedEnvironment:
        from jinja2 import StrictUndefined
        from jinja2.sandbox import SandboxedEnvironment

        environment = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
        environment.globals = {"env_var": self._env_var}
        if self._names.vars is not None:
            environment.globals["var"] = self._var
        if self._names.docs is not None:
            environment.globals["doc"] = self._doc
        if self._names.target is not None:
            environment.globals["target"] = self._names.target
        # dbt's names for what happens here by itself: the result is read as YAML reads it.
        environment.filters.update(dict.fromkeys(("as_native", "as_bool", "as_number", "as_text"), lambda value: value))
        return environment

    def calls(self, path: KeyPath = ()) -> Iterator[EnvVar]:
        """Yield what was asked of the environment by the texts below `path`, in their order."""
        for at, names in self.env_vars.items():
            place = self._places.place(at)
            if place is not None and at[: len(path)] == path:
                yield from (EnvVar(name, place) for name in names)

    def _env_var(self, name: str, default: Any = None) -> str:
        self.env_vars.setdefault(self._at, []).append(str(name))
        value = self._env.get(name)
        if value is not None and not isinstance(value, WithheldValue):
            self.used[name] = value
            return value
        if default is not None:
            return str(default)
        if value is None or value == NOT_ALLOWED:
            raise _MissingError(name, is_refused=value is not None)
        return str(value)

    def _doc(self, name: str, block: str | None = None) -> str:
        name = name if block is None else block  # as in dbt, where the first of two is a package
        if self._names.docs is None or name not in self._names.docs:
            raise _UnknownDocError(name)
        return self._names.docs[name]

    def _var(self, name: str, default: Any = _NOTHING) -> Any:
        value = (self._names.vars or {}).get(name, default)
        if value is _NOTHING:
            raise _UnsetError(name)
        return {True: "true", False: "false", None: ""}[value] if value is None or isinstance(value, bool) else value


_GROWING_FILTERS = frozenset(
    {"batch", "center", "format", "indent", "slice", "wordwrap", "xmlattr", "urlize", "tojson"}
)
_METHODS = frozenset(
    {"lower", "upper", "strip", "lstrip", "rstrip", "split", "startswith", "endswith", "removeprefix", "removesuffix"}
)
_MOST_REPLACED = 4


def _refused_part(tree: Any) -> str | None:
    """What of a template could run for ever or fill the memory: loops, macros, variables, products; else None.

    What is left makes texts that are not much longer than what they are made of.
    """
    from jinja2 import nodes

    growing = (nodes.For, nodes.Macro, nodes.CallBlock, nodes.FilterBlock, nodes.Assign, nodes.AssignBlock, nodes.With)
    arithmetic = (nodes.Mul, nodes.Pow, nodes.Mod)
    for node in tree.find_all((*growing, *arithmetic, nodes.Filter, nodes.Call, nodes.Include, nodes.ImportedName)):
        if isinstance(node, nodes.Call) and isinstance(node.node, nodes.Name):
            continue
        if isinstance(node, nodes.Call):
            name = node.node.attr if isinstance(node.node, nodes.Getattr) else ""
            if name in _METHODS:
                continue
            return "a method"  # without its name: no message quotes what is written here
        if not isinstance(node, nodes.Filter):
            return type(node).__name__.lower()
        if node.name in _GROWING_FILTERS:
            return f'the filter "{node.name}"'
    replaced = sum(node.name == "replace" for node in tree.find_all(nodes.Filter))
    return f'the filter "replace" {replaced} times' if replaced > _MOST_REPLACED else None


class _MissingError(Exception):
    def __init__(self, name: str, *, is_refused: bool = False) -> None:
        super().__init__(name)
        self.name = name
        self.is_refused = is_refused


class _UnsetError(_MissingError):
    """A var without a value."""


class _UnknownDocError(_MissingError):
    """A docs block that there is not."""
