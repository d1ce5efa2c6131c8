"""What language models read of the documentation: `llms.txt`, an index of pages, and `llms-full.txt`, a reference.

The first one has the form of llmstxt.org. Both are plain files of the site; links are relative to its root.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import yaml

from merge_runner.lint.documentation import summary
from merge_runner.lint.registry import built_in_rules
from merge_runner.project.schema.config import ModelConfig
from merge_runner.project.schema.profile import Output
from merge_runner.project.schema.settings import SettingsTable
from tools.docgen.command_page import COMMON, EXIT_STATUS, commands, options
from tools.docgen.keys import Key, keys

_ROOT = Path(__file__).parents[2]
_LONGEST = 200
"""Characters of the sentence that says what a page is about."""
_SUMMARY = (
    "SQL MERGE models with Jinja, analyzed before they run, built on Spark (Delta, Iceberg) as a DAG, and tested."
)
_MODEL = """\
{{ config(partition_by=['flight_date'], unique_key=['flight_date', 'carrier', 'flight']) }}
merge into {{ this }} as t
using (select flight_date, carrier, flight, dep_delay, updated_at from {{ ref('stg_flight') }}) as s
   on t.flight_date = s.flight_date and t.carrier = s.carrier and t.flight = s.flight
when matched and s.updated_at > t.updated_at then update set *
when not matched then insert *"""
_PROJECT = (
    "A project is a folder with `[tool.merge-runner]` in pyproject.toml, `profiles.yml` (where it runs), `models/` "
    "(`.sql` models, and `.yml` with sources, columns, `data_tests` and `unit_tests`), `macros/`, `seeds/`, `tests/`. "
    "`target/` is generated. A model is one MERGE or one SELECT; `ref`, `source`, `this`, `var` and selection are as "
    "in dbt:"
)
_FIRST = (
    "After each edit of a model run `merge-runner lint --format json`; before a build look at `merge-runner explain`; "
    "`merge-runner show -s MODEL` shows the rows that a MERGE would change, and `merge-runner test -s MODEL` runs its "
    "unit tests. `build` and `run` write tables."
)


def llms_index(pages: Mapping[str, str]) -> str:
    """Return the index of the pages of the site, by section; `pages` are the generated ones, by path."""
    nav = yaml.safe_load((_ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    sections = [f"# merge-runner\n\n> {_SUMMARY}\n\n{_FIRST}"]
    sections.append("## In one file\n\n- [Compact reference](llms-full.txt): all commands, keys and rules, a line each")
    for entry in nav:
        ((title, content),) = entry.items()
        if isinstance(content, str):  # the page of the site itself, and the glossary
            continue
        links = [f"- [{name}]({_address(path)}): {_subject(path, pages)}" for name, path in _leaves(title, content)]
        # Sections that may be left out where the context is short have this name.
        sections.append("\n".join((f"## {'Optional' if title == 'Contributing' else title}", "", *links)))
    return "\n\n".join(sections) + "\n"


def llms_reference() -> str:
    """Return the compact reference: commands, exit statuses, keys and rules, a line each."""
    rules = (f"{rule.code} {rule.name} ({rule.severity}): {summary(rule)}" for rule in built_in_rules())
    statuses = (f"{status}: {text}" for status, text in EXIT_STATUS.items())
    parts = [
        f"# merge-runner, compact reference\n\n> {_SUMMARY}\n\n{_PROJECT}\n\n```sql\n{_MODEL}\n```\n\n{_FIRST}",
        _section("Commands", _commands()),
        _section("Exit statuses", statuses),
        _section("Config keys of models", map(_key, keys(ModelConfig))),
        _section("Keys of [tool.merge-runner] in pyproject.toml", map(_key, keys(SettingsTable))),
        _section("Keys of an output in profiles.yml", map(_key, keys(Output))),
        _section("Rules of lint: `merge-runner rule CODE` explains one", rules),
    ]
    return "\n\n".join(parts) + "\n"


def _leaves(title: str, content: Any) -> Iterator[tuple[str, str]]:
    """Yield title and path of each page below an entry of the navigation; pages of single rules are left out."""
    if isinstance(content, str):
        yield title, content
        return
    for item in content:
        if isinstance(item, str):
            yield title, item
            continue
        ((name, inner),) = item.items()
        if not (isinstance(inner, str) and re.match(r"reference/rules/[A-Z]\d+\.md", inner)):
            yield from _leaves(name, inner)


def _address(path: str) -> str:
    """Return where the site has a page."""
    folder, _, name = path.rpartition("/")
    name = "index.html" if name == "README.md" else f"{name.removesuffix('.md')}.html"
    return f"{folder}/{name}" if folder else name


def _subject(path: str, pages: Mapping[str, str]) -> str:
    """Return the first sentence of a page."""
    own = f"docs/{path}"
    text = pages[own] if own in pages else (_ROOT / own).read_text(encoding="utf-8")
    text = re.sub(r"<!--.*?-->|```.*?```", "", text, flags=re.DOTALL)
    paragraphs = (
        " ".join(part.split()) for part in re.split(r"^# .*$", text, maxsplit=1, flags=re.MULTILINE)[1].split("\n\n")
    )
    prose = next((part for part in paragraphs if part and part[0] not in "#|<-!{["), "")
    sentence = re.split(r"(?<=\.)\s", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", prose), maxsplit=1)[0]
    return sentence.rstrip(".:") if len(sentence) <= _LONGEST else f"{sentence[: _LONGEST - 1].rpartition(' ')[0]} …"


def _section(title: str, lines: Iterable[str]) -> str:
    return "\n".join((f"## {title}", "", *(f"- {' '.join(line.split())}" for line in lines)))


def _commands() -> Iterator[str]:
    """Yield a line for each command, then one with the options that many of them have."""
    flags = {name: [_flag(option) for option in options(command)] for name, command in commands().items()}
    count = Counter(flag for of_command in flags.values() for flag in of_command)
    for name, command in commands().items():
        context = click.Context(command)
        arguments = [param.make_metavar(context) for param in command.params if isinstance(param, click.Argument)]
        own = [flag for flag in flags[name] if count[flag] < COMMON]
        help_text = inspect.cleandoc(command.help or "").partition("\n\n")[0]
        of_options = f" Options: {' '.join(own)}" if own else ""
        yield f"`merge-runner {' '.join((name, *arguments))}`: {help_text}{of_options}"
    yield f"Options of most commands: {' '.join(flag for flag, number in count.items() if number >= COMMON)}"


def _flag(option: click.Option) -> str:
    return next(flag for flag in option.opts if flag.startswith("--"))


def _key(key: Key) -> str:
    default = f"; default {key.default}" if key.default else ""
    return f"`{key.name}` ({key.type_name}{default}): {key.sentence}"
