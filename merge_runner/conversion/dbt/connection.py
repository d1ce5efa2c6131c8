"""What a dbt profile says of where tables are, and of the adapter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merge_runner.conversion.dbt.yaml_file import read_tree
from merge_runner.errors import Problems
from merge_runner.lint.dbt.project import DbtProject
from merge_runner.project.syntax.places import NoPlaces
from merge_runner.project.syntax.value_template import TemplateNames, ValueTemplate
from merge_runner.project_file import Boundary
from merge_runner.text import Place

_PROFILES = "profiles.yml"


@dataclass(frozen=True)
class Connection:
    """What a dbt profile says of where tables are: the adapter's type, the schema, the catalog. None: not known."""

    adapter: str | None = None
    schema: str | None = None
    catalog: str | None = None
    target: str | None = None
    """The name of the output."""
    profile: str | None = None
    assumed_at: Place | None = None
    """Where the project has what only this adapter knows, where nothing else says which one it is."""

    @property
    def values(self) -> Mapping[str, Any] | None:
        """What dbt's Jinja has as `target`; None where no profile is known."""
        target = {"name": self.target, "target_name": self.target, "profile_name": self.profile, "type": self.adapter}
        target |= {"schema": self.schema, "catalog": self.catalog, "database": self.catalog}
        return {key: value for key, value in target.items() if value is not None} or None


def profile_connection(
    root: Path,
    data: Mapping[str, Any],
    manifest: DbtProject | None,
    env: Mapping[str, str],
    home: Path | None,
    adapter: str | None,
) -> Connection:
    """What is known of the profile; nothing else of profiles.yml is read, since it has secrets."""
    folders = [Path(env["DBT_PROFILES_DIR"])] if env.get("DBT_PROFILES_DIR") else []
    folders += [root, *([home / ".dbt"] if home is not None else [])]
    adapter = adapter or (manifest.adapter if manifest is not None else None)
    for folder in folders:
        tree = read_tree(folder / _PROFILES, _PROFILES, Problems(), Boundary(root).of_named(folder / _PROFILES))
        name = _render(data.get("profile"), env)
        profile = _mapping(_mapping(tree.data if tree is not None else None).get(str(name)))
        outputs = {key: output for key, output in _mapping(profile.get("outputs")).items() if _mapping(output)}
        if outputs:
            target = _render(profile.get("target"), env) or "default"
            target = next(iter(outputs)) if target not in outputs and len(outputs) == 1 else target
            types = {_render(output.get("type"), env) for output in outputs.values()}
            if target not in outputs:  # whichever it is, the adapter may be the same
                return Connection(adapter or (types.pop() if len(types) == 1 else None), profile=name)
            output = outputs[target]
            type, schema, catalog = (_render(output.get(key), env) for key in ("type", "schema", "catalog"))
            return Connection(adapter or type, schema, catalog, target, name)
    return Connection(adapter)


def _render(value: Any, env: Mapping[str, str]) -> str | None:
    """A text of a profile with the environment in it; None where it needs what is not known here."""
    if not isinstance(value, str):
        return None
    problems = Problems()
    text = ValueTemplate(NoPlaces(), TemplateNames(_PROFILES, ""), env, problems).describe(value, ("profile",))
    return text if len(problems) == 0 and isinstance(text, str) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
