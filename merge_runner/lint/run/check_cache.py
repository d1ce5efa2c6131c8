"""What was found in each model in earlier runs: a model is looked at again where something that it read has changed.

The key has what all models have in common: what lints, the rules that count, the profile, the kind of run, the names of
all macros. The questions are what was asked while the model was looked at: its file and config, those of the tables
that its SQL names, macros, vars, environment variables. What has a Problem or may hold a secret is not kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from merge_runner.graph.capture_cache import may_hold_secret
from merge_runner.lint.check import CheckResult
from merge_runner.lint.registry import files_of_provided_rules
from merge_runner.lint.run.outcome_json import as_json, finding_of_json, merge_of_json, not_judged_of_json
from merge_runner.lint.run.project_linter import ProjectLinter
from merge_runner.lint.selection import RuleSelection
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.load.project_context import Prepared
from merge_runner.store import answered, key, most_of, toolchain_hash
from merge_runner.template.redact import redact


@dataclass(frozen=True)
class Outcome:
    """The outcome for a model, and what is kept of it."""

    result: CheckResult
    text: str | None = None
    """Its JSON text; None: it may hold a secret."""
    inputs: str | None = None
    """What it was made of, with the answers; None: that has other answers each time."""


class CheckCache:
    """What was found in the models of one project."""

    def __init__(self, prepared: Prepared, layouts: Layouts, selection: RuleSelection) -> None:
        invocation, profile = prepared.invocation, prepared.files.profile
        self._prepared = prepared
        self._store = prepared.store if not (prepared.deferral.ids or invocation.macros) else None
        self._answers = layouts.answers
        self._common = key(
            toolchain_hash(),
            files_of_provided_rules(),
            selection,
            (profile, profile.remote, profile.conf, profile.catalogs),
            (invocation.full_refresh, invocation.incremental),
            [(macro.name, macro.place.path) for macro in prepared.templates.macros()],
            prepared.templates.packages.names,
            prepared.graph.project,
        )

    def get(self, unique_id: str) -> CheckResult | None:
        """Return what was found in a model, where each of its questions has the same answer now."""
        entry = self._store.get(self._key(unique_id), self._answers) if self._store is not None else None
        if entry is None:
            return None
        questions, value = entry
        for kind, name in questions:
            if kind == "env":
                self._prepared.invocation.env.get(name)  # as the model would: what was asked for is never shown
        merge = merge_of_json(value["merge"]) if value["merge"] is not None else None
        hooks = tuple(map(merge_of_json, value["hooks"]))
        not_judged = tuple(map(not_judged_of_json, value["not_judged"]))
        return CheckResult(tuple(map(finding_of_json, value["findings"])), merge, hooks, not_judged)

    def outcome(self, unique_id: str, result: CheckResult) -> Outcome:
        """Return an outcome with what is kept of it: best made where its model was looked at, whose parts are read."""
        if self._store is None:
            return Outcome(result)
        value = {name: as_json(getattr(result, name)) for name in ("findings", "merge", "hooks", "not_judged")}
        text = json.dumps(value)
        if may_hold_secret(text, result.reads, self._prepared.files.vars, self._answers.env):
            return Outcome(result)
        return Outcome(result, text, answered(self._key(unique_id), result.reads, self._answers))

    def put(self, outcomes: Mapping[str, Outcome]) -> None:
        """Keep what was found in models."""
        if self._store is None:
            return
        secrets = self._prepared.secrets
        for unique_id, outcome in outcomes.items():
            if outcome.text is not None and redact(outcome.text, secrets) == outcome.text:
                self._store.put_text(self._key(unique_id), outcome.inputs, outcome.text)

    def close(self) -> None:
        """Close the file, before processes are forked."""
        if self._store is not None:
            self._store.close()

    def write(self) -> None:
        """Write what was put."""
        if self._store is not None:
            self._store.write(most_of(len(self._prepared.files.models)))

    def _key(self, unique_id: str) -> bytes:
        return key("check", self._common, unique_id)


@dataclass(frozen=True)
class CachingLinter:
    """Looks at models as `linter` does, and makes what is kept of each; `check_all` may call it in other processes."""

    linter: ProjectLinter
    cache: CheckCache

    def check(self, unique_id: str) -> Outcome:
        """Return the outcome for a model or seed."""
        return self.cache.outcome(unique_id, self.linter.check(unique_id))

    def arranged(self, unique_ids: Sequence[str]) -> Sequence[str]:
        """Return the models in the order in which they are best looked at."""
        return self.linter.arranged(unique_ids)

    def forget(self) -> None:
        """Leave all that can be made again."""
        self.linter.forget()

    def answers(self) -> Mapping[str, str | None]:
        """Return what the linter has learned."""
        return self.linter.answers()

    def learn(self, learned: Mapping[str, str | None]) -> None:
        """Take what `answers` returned in another process."""
        self.linter.learn(learned)
