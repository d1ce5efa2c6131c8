"""What templates captured in earlier runs: no file is compiled again where nothing that it read has changed.

The key has all that is known before a file is rendered: its path and text, its config from outside, the target, the
kind of run, the names of all macros. The questions are the vars and environment variables that it asked for, set or
not, and the texts of the macro files that it can reach. What holds a secret is not kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from merge_runner.graph.captures import capture_all_runs
from merge_runner.merge.find import holds_merge
from merge_runner.project.syntax.environment import template_env
from merge_runner.project.syntax.secret_names import holds_value, secret_values, secret_vars
from merge_runner.reads import Question, Reads, RecordedMapping
from merge_runner.store import Store, answered, key, most_of, toolchain_hash
from merge_runner.template.capture import Capture, capture_as_json, capture_of_json
from merge_runner.text import SourceText

if TYPE_CHECKING:
    from merge_runner.template.context import Context
    from merge_runner.template.templates import Templates

_Value = TypeVar("_Value")


class CaptureCache:
    """Captures the files of one project; `store` None: each is read again."""

    def __init__(self, templates: Templates, store: Store | None) -> None:
        self._templates = templates
        self._store = store
        self._macros = {source.path: key(source.text).hex() for source in templates.sources}
        self._names = key(
            toolchain_hash(),
            sorted((macro.name, macro.place.path) for macro in templates.macros()),
            templates.packages.names,
        )

    def capture(self, source: SourceText, context: Context) -> Capture:
        """Return what `capture_all_runs` does. Raises ProblemsError."""
        captured = self._templates.scanned(source)  # what can be read without Jinja is not worth keeping
        if captured is not None and not self._templates.differs_by_run(source.text, captured.macros):
            return captured

        def make(recording: Context) -> Capture:
            return capture_all_runs(self._templates, source, recording)

        return self._from_store("capture", source, context, make, capture_as_json, capture_of_json)

    def renders_merge(self, source: SourceText, context: Context) -> bool:
        """Return whether the rendered text holds a MERGE, were it without rows of queries. Raises ProblemsError."""

        def make(recording: Context) -> bool:
            return holds_merge(self._templates.text_unanswered(source, recording))

        return self._from_store("holds_merge", source, context, make, bool, bool)

    def write(self, files: int) -> None:
        """Write what is new; the project has so many files."""
        if self._store is not None:
            self._store.write(most_of(files))

    def _from_store(
        self,
        stage: str,
        source: SourceText,
        context: Context,
        make: Callable[[Context], _Value],
        as_json: Callable[[_Value], Any],
        of_json: Callable[[Any], _Value],
    ) -> _Value:
        """Return the value of the store, else what `make` returns; a Problem that it raises is never kept."""
        if self._store is None or context.macros:
            return make(context)
        about = key(stage, self._names, source.path, source.text, _context_key(context))
        env = template_env(context.env)

        def answer(kind: str, name: str) -> str | None:
            if kind == "var":
                return repr(context.vars[name]) if name in context.vars else None
            return env.get(name) if kind == "env" else self._macros.get(name)

        entry = self._store.get(about, answer)
        if entry is not None:
            questions, value = entry
            for kind, name in questions:
                if kind == "env":
                    context.env.get(name)  # as the file would: what was asked for is never shown
            return of_json(value)
        reads = Reads()
        with reads.collected() as recorded_questions:
            reads.note(("macros", path) for path in self._templates.reachable_files(source.text))
            result = make(
                replace(
                    context,
                    vars=RecordedMapping(context.vars, "var", reads),
                    env=RecordedMapping(context.env, "env", reads),
                )
            )
        value = as_json(result)
        text = json.dumps(value) if value is not None else None
        if text is not None and not may_hold_secret(text, recorded_questions, context.vars, context.env):
            self._store.put_text(about, answered(about, recorded_questions, answer), text)
        return result


def _context_key(context: Context) -> tuple[Any, ...]:
    """What a context says before it is asked for vars and environment variables; refs are not resolved yet."""
    runs = (context.full_refresh, context.incremental)
    return (context.model_name, context.this, context.target, runs, context.config, context.model)


def may_hold_secret(text: str, questions: Iterable[Question], vars_: Mapping[str, Any], env: Mapping[str, str]) -> bool:
    """Return whether a JSON text may hold an environment variable, or anything that was made of a secret."""
    variables = {name: env.get(name) for kind, name in questions if kind == "env"}
    values = {name: vars_.get(name) for kind, name in questions if kind == "var"}
    if [*secret_values(variables), *secret_vars(values)]:
        return True
    return holds_value(text, variables.values())
