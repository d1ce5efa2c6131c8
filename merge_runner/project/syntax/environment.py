"""The environment as templates may read it: which variables are withheld from them, and which were asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from merge_runner.project.syntax.secret_names import PLACEHOLDER, is_secret_variable
from merge_runner.text import Place

ALLOW = "MERGE_RUNNER_ENV_ALLOW"
"""The variable that lists which others templates may read: names, `*` at the end for any ending. Not set: all."""


class WithheldValue(str):
    """What templates get in place of a variable that is withheld from them: a text that is a valid name."""

    __slots__ = ()


SECRET = WithheldValue(PLACEHOLDER)
"""In place of a secret, whether or not it is set: nothing that is made of it tells one secret from another."""
NOT_ALLOWED = WithheldValue("not_allowed")
"""In place of a variable that is set and that MERGE_RUNNER_ENV_ALLOW does not list: it counts as not set."""


@dataclass(frozen=True, slots=True)
class EnvVar:
    """One `env_var(…)`: the variable's name, and the place of the call."""

    name: str
    place: Place


class TemplateEnv(Mapping[str, str]):
    """The variables of `whole` that templates get. Without `secrets` a secret's is a placeholder."""

    def __init__(self, whole: Mapping[str, str], *, secrets: bool) -> None:
        self._whole = whole
        self._secrets = secrets
        allowed = whole.get(ALLOW)
        self._allowed = None if allowed is None else tuple(allowed.replace(",", " ").split())

    def __getitem__(self, name: str) -> str:
        if not self._secrets and is_secret_variable(name, self._whole.get(name)):
            return SECRET
        value = self._whole[name]
        return value if self._is_allowed(name) else NOT_ALLOWED

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole)

    def __len__(self) -> int:
        return len(self._whole)

    def _is_allowed(self, name: str) -> bool:
        if self._allowed is None:
            return True
        return any(name.startswith(entry[:-1]) if entry.endswith("*") else name == entry for entry in self._allowed)


class RecordingEnv(Mapping[str, str]):
    """The environment that a command gives to the loading of a project; `reads` has the variables that were asked for.

    The value of one that is not set is None there. With `secrets` templates get all variables, as a run needs; without,
    where nothing runs, a placeholder for each whose name, or whose URL, says that it is secret.
    """

    def __init__(self, env: Mapping[str, str], *, secrets: bool = False) -> None:
        self.whole = env
        """The variables themselves, for what is no template."""
        self.for_templates = TemplateEnv(env, secrets=secrets)
        """The variables as templates get them: to look at them is not to ask."""
        self.reads: dict[str, str | None] = {}

    def __getitem__(self, name: str) -> str:
        self.reads[name] = self.for_templates.get(name)
        return self.for_templates[name]

    def __iter__(self) -> Iterator[str]:
        for name in self.for_templates:
            self.reads[name] = self.for_templates[name]
            yield name

    def __len__(self) -> int:
        return len(self.for_templates)


def whole_env(env: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables of the process, whatever templates get of them."""
    return env.whole if isinstance(env, RecordingEnv) else env


def template_env(env: Mapping[str, str]) -> Mapping[str, str]:
    """Return the variables as templates get them, where to look is not to ask."""
    return env.for_templates if isinstance(env, RecordingEnv) else env


def recorded_reads(env: Mapping[str, str]) -> Mapping[str, str | None]:
    """Return what was asked of an environment so far; nothing where that is not recorded."""
    return env.reads if isinstance(env, RecordingEnv) else {}


def record_reads(env: Mapping[str, str], reads: Mapping[str, str | None]) -> None:
    """Record what another process has asked of the same environment."""
    if isinstance(env, RecordingEnv):
        env.reads.update(reads)
