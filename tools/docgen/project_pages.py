"""The pages of what a user configures: config keys, profiles, project settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from merge_runner.project.schema.config import MODEL_KEYS, ModelConfig
from merge_runner.project.schema.dbt_keys import CONFIG as DBT_CONFIG
from merge_runner.project.schema.dbt_keys import SETTINGS as DBT_SETTINGS
from merge_runner.project.schema.dbt_keys import VALUES as DBT_VALUES
from merge_runner.project.schema.profile import Output, ProfileEntry
from merge_runner.project.schema.settings import SettingsTable
from tools.docgen.keys import Key, keys
from tools.docgen.markdown import anchor, code, fenced, page, table

_CONFIGURATION = """\
A config key is written in one of three places. A more specific place overrides a less specific one; `tags` and
hooks add up, and `meta`, `docs`, `properties`, `conf` and `column_types` merge key by key. An unknown key is an
error that names the nearest known one.

From the least to the most specific:

1. for a folder of models or seeds, in `[tool.merge-runner.models]` or `[tool.merge-runner.seeds]` of
   pyproject.toml, with dbt's `+` or without;
2. for a model or seed, below `config:` in a YAML property file ([YAML properties](yaml.md));
3. for a model, in its file: `{{ config(…) }}`."""

_PLACES = """\
```toml
[tool.merge-runner.models.marts]
format = "iceberg"
```

```yaml
models:
  - name: fct_order
    config: {partition_by: [order_date]}
```

```sql
{{ config(partition_by=['order_date'], unique_key=['order_id']) }}
merge into {{ this }} as t …
```"""

_PROFILES = """\
`profiles.yml` describes where a project runs. It is read from `--profiles-dir`, else from the project's folder,
else from `~/.merge-runner`. The profile is the one that the [project settings](settings.md) name, or `--profile`.
`{{ env_var('NAME', 'default') }}` works in every value; values that come from the environment or whose key looks
like a secret are not shown in any output."""

_PROFILE_EXAMPLE = """\
shop:                       # the profile
  target: local             # the output without --target
  outputs:
    local:
      schema: shop
    prod:
      schema: shop
      master: yarn
      conf: {spark.executor.memory: 8g}
      audit: ops.runs"""

_SETTINGS = """\
The table `[tool.merge-runner]` of `pyproject.toml` makes a folder a project. All paths are relative to that folder
and inside it."""

_SETTINGS_EXAMPLE = """\
[tool.merge-runner]
name = "shop"

[tool.merge-runner.vars]
from = 2024-01-01

[tool.merge-runner.models.staging]
materialized = "view"

[tool.merge-runner.lint]
ignore = ["C002"]"""


def configuration() -> str:
    """Return the page of all config keys of models and seeds."""
    found = keys(ModelConfig)
    return page(
        "Configuration keys",
        _CONFIGURATION,
        _PLACES,
        "## All keys",
        table(
            ("key", "applies to", "default", "meaning"),
            ((_link(key), key.applies or "models and seeds", key.default, key.sentence) for key in found),
        ),
        *_sections(found, "yaml"),
        "## dbt config keys that are different here",
        "These keys of dbt-core, dbt-spark and dbt-databricks are an error; the message contains the same advice.",
        table(("key of dbt", "what to do"), ((f"`{key}`", text) for key, text in sorted(DBT_CONFIG.items()))),
        "Values of dbt that a key does not have:",
        table(
            ("key", "value of dbt", "what to do"),
            ((f"`{key}`", f"`{value}`", text) for (key, value), text in DBT_VALUES.items()),
        ),
    )


def profiles() -> str:
    """Return the page of profiles.yml."""
    output = keys(Output)
    return page(
        "Profiles",
        _PROFILES,
        fenced("yaml", _PROFILE_EXAMPLE),
        "## Keys of a profile",
        key_table(keys(ProfileEntry)),
        "## Keys of an output",
        _overview(output),
        *_sections(output, "yaml"),
    )


def settings() -> str:
    """Return the page of the project settings."""
    found = keys(SettingsTable)
    return page(
        "Project settings",
        _SETTINGS,
        fenced("toml", _SETTINGS_EXAMPLE),
        "## Keys of `[tool.merge-runner]`",
        _overview(found),
        *_sections(found, "toml"),
        "## Keys of dbt_project.yml that are different here",
        table(("key of dbt", "what to do"), ((f"`{key}`", text) for key, text in sorted(DBT_SETTINGS.items()))),
    )


def key_table(found: Iterable[Key]) -> str:
    """Return a table of keys with everything that is known of them."""
    return table(
        ("key", "type", "default", "meaning", "example"),
        ((_spellings(key), key.type_name, key.default, key.meaning, code(key.example)) for key in found),
    )


def _spellings(key: Key) -> str:
    return " or ".join(f"`{name}`" for name in key.names)


def _overview(found: Iterable[Key]) -> str:
    return table(
        ("key", "type", "default", "meaning"), ((_link(key), key.type_name, key.default, key.sentence) for key in found)
    )


def _link(key: Key, of: str = "") -> str:
    return f"[`{key.name}`](#{anchor(of + key.name)})"


def _sections(found: Iterable[Key], language: str, of: str = "") -> Iterator[str]:
    """Yield a section for each key, with those of the keys in its value below it."""
    level = "###" if of else "##"
    for key in found:
        yield f"{level} `{of}{key.name}`"
        yield key.meaning
        facts = [("Type", key.type_name), ("Default", key.default)]
        if key.applies:
            facts.append(("Applies to", key.applies))
        if len(key.names) > 1:
            facts.append(("Also written", ", ".join(f"`{name}`" for name in key.names[1:])))
        if not of and key.name in MODEL_KEYS and (others := _dbt_names(key.name)):
            facts.append(("In dbt", ", ".join(f"`{name}`" for name in others)))
        yield "\n".join(f"- {name}: {text}" for name, text in facts)
        yield fenced(language, key.example)
        if key.nested is not None:
            yield from _sections(keys(key.nested), language, f"{of}{key.name}.")


def _dbt_names(name: str) -> list[str]:
    """Return the keys of dbt for which the advice is to write the key `name`."""
    return [key for key, text in DBT_CONFIG.items() if re.search(rf'the key is "{name}"', text)]
