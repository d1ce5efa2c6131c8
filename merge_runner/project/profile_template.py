"""`{{ env_var('X', 'default') }}` in a profile: the one thing of Jinja that works there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from merge_runner.errors import Problems
from merge_runner.project.places import KeyPath, Places
from merge_runner.project.yaml_scalar import plain_scalar
from merge_runner.text import Place

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

_ONE_EXPRESSION = re.compile(r"\s*\{\{(?:(?!\}\}).)*\}\}\s*\Z", re.DOTALL)


class ProfileTemplate:
    """Renders the texts of a profile's output. No message holds a value: it may be a secret.

    It is itself the places of what it renders, so that text fields get a variable's value as it is.
    """

    def __init__(self, places: Places, env: Mapping[str, str], problems: Problems) -> None:
        self._places = places
        self._env = env
        self._problems = problems
        self._rendered: dict[KeyPath, str] = {}
        self.used: dict[str, str] = {}
        """The environment variables that were read, with their values."""

    def place(self, path: KeyPath = ()) -> Place | None:
        """The place of the value at `path`."""
        return self._places.place(path)

    def key_place(self, path: KeyPath) -> Place | None:
        """The place of the key at `path`."""
        return self._places.key_place(path)

    def text(self, path: KeyPath) -> str | None:
        """What the value at `path` rendered to, else how it was written."""
        return self._rendered[path] if path in self._rendered else self._places.text(path)

    def render(self, data: Any, at: KeyPath) -> Any:
        """`data`, which stands at the path `at`, with every text rendered.

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
        self._rendered[at] = text
        return plain_scalar(text) if _ONE_EXPRESSION.match(data) else text

    def _rendering(self, text: str, at: KeyPath) -> str | None:
        from jinja2 import TemplateError, meta

        key = f'"{at[-1]}"'
        place = self._places.place(at)
        try:
            tree = self._environment.parse(text)
        except TemplateError:
            self._problems.add("profile-jinja", f"the Jinja of {key} cannot be parsed", place)
            return None
        unknown = sorted(meta.find_undeclared_variables(tree) - {"env_var"})
        if unknown:
            names = ", ".join(f'"{name}"' for name in unknown)
            message = f"{key} uses {names}, which a profile does not know"
            self._problems.add("profile-jinja", message, place, "only env_var('NAME', 'default') works in profiles.yml")
            return None
        try:
            return self._environment.from_string(tree).render()
        except _MissingError as missing:
            message = f"{key} needs the environment variable {missing.name}, which is not set"
            hint = f"set it, or give a default: env_var('{missing.name}', '…')"
            self._problems.add("missing-env-var", message, place, hint)
        except Exception as error:  # whatever a filter raises may quote the value
            message = f"the Jinja of {key} cannot be rendered ({type(error).__name__})"
            self._problems.add("profile-jinja", message, place)
        return None

    @cached_property
    def _environment(self) -> SandboxedEnvironment:
        from jinja2 import StrictUndefined
        from jinja2.sandbox import SandboxedEnvironment

        environment = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
        environment.globals = {"env_var": self._env_var}
        # dbt's names for what happens here by itself: the result is read as YAML reads it.
        environment.filters.update(dict.fromkeys(("as_native", "as_bool", "as_number", "as_text"), lambda value: value))
        return environment

    def _env_var(self, name: str, default: Any = None) -> str:
        value = self._env.get(name)
        if value is None:
            if default is None:
                raise _MissingError(name)
            return str(default)
        self.used[name] = value
        return value


class _MissingError(Exception):
    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
