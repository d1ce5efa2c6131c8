"""What the user has accepted of a project that an agent goes on editing.

A merge whose text alone has changed may be built: lint and `expect_merge` judge the text. What they do not judge has to
be what it was: the output, hooks, the settings of lint, and the config of the merge, with its guards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, NoReturn

from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.graph.graph import DataTestNode, ModelNode, Node, RefNode
from merge_runner.lint.suppress.baseline import Baseline
from merge_runner.text import Place

if TYPE_CHECKING:
    from merge_runner.plan.load.project_context import Prepared
    from merge_runner.project.schema.config import ModelConfig
    from merge_runner.project.schema.profile import Profile
    from merge_runner.relation import Relation

CODE = "not-accepted"
_RESTART = "the user accepts it by starting the server again"
_NOQA = re.compile(r"noqa[^\n]*", re.IGNORECASE)


@dataclass(frozen=True)
class _AcceptedMerge:
    """A merge with a guard: its table, its config, and the comments in its text that hide findings of lint."""

    relation: Relation | None
    config: ModelConfig
    noqa: frozenset[str]

    @classmethod
    def of(cls, node: ModelNode) -> _AcceptedMerge:
        return cls(node.relation, node.config, frozenset(_NOQA.findall(node.raw_code)))

    def differences(self, now: _AcceptedMerge) -> Iterator[str]:
        """Yield what of a merge is another than what was accepted."""
        if now.relation != self.relation:
            yield "its table"
        for key in fields(self.config):
            if getattr(now.config, key.name) != getattr(self.config, key.name):
                yield f"`{key.name}`"
        yield from (f"`{comment}`" for comment in sorted(now.noqa - self.noqa))


@dataclass(frozen=True)
class AcceptedProject:
    """What was accepted: `merges` may be built, by id."""

    merges: Mapping[str, _AcceptedMerge]
    profile: Profile
    run_hooks: tuple[tuple[str, ...], ...]
    hook_values: tuple[Any, ...]
    """What the text of a hook depends on besides itself: macros, and vars."""
    lint: tuple[Any, ...]
    """The settings of lint, and the baseline."""

    @classmethod
    def of(cls, prepared: Prepared, ids: Iterable[str]) -> AcceptedProject:
        """Return the project as it is now; the merges with `expect_merge` among the nodes `ids` may be built."""
        nodes = (prepared.graph.nodes[unique_id] for unique_id in ids)
        merges = {
            node.unique_id: _AcceptedMerge.of(node)
            for node in nodes
            if isinstance(node, ModelNode) and node.materialized == "merge" and node.config.expect_merge is not None
        }
        return cls(merges, prepared.files.profile, _run_hooks(prepared), _hook_values(prepared), _lint(prepared))

    def check_output(self, prepared: Prepared) -> None:
        """Raise ProblemsError where the project runs elsewhere, or otherwise, than was accepted."""
        if prepared.files.profile != self.profile:
            _refuse(
                f'the output "{prepared.files.profile.target}" of profiles.yml has changed', Place("profiles.yml", 1, 1)
            )

    def check_test(self, prepared: Prepared, ids: Sequence[str], *, may_write: bool) -> None:
        """Raise ProblemsError where tests would write more than scratch tables.

        `may_write`: hooks of the run may write, as they were accepted.
        """
        problems = Problems()
        with problems.collecting():
            self._check_run_hooks(prepared, may_write=may_write)
        for unique_id in ids:
            node = prepared.graph.nodes[unique_id]
            if isinstance(node, DataTestNode) and node.config.store_failures:
                message = f"the test {node.name} writes its failing rows to a table (`store_failures`)"
                problems.add(CODE, message, node.place, "take `store_failures` out, or run the test in a terminal")
        problems.check()

    def check_build(self, prepared: Prepared, ids: Sequence[str]) -> None:
        """Raise ProblemsError, with all that is wrong, where a build of the nodes writes what was not accepted."""
        problems = Problems()
        with problems.collecting():
            self.check_test(prepared, ids, may_write=True)
        if _lint(prepared) != self.lint:
            message = "the settings of lint, or its baseline, have changed: they decide which merges are refused"
            problems.add(CODE, message, Place("pyproject.toml", 1, 1), _RESTART)
        for unique_id in ids:
            node = prepared.graph.nodes[unique_id]
            if isinstance(node, RefNode) and node.materialized != "ephemeral":
                problems.extend(self._faults(prepared, node))
        problems.check()

    def _faults(self, prepared: Prepared, node: RefNode) -> Iterator[Problem]:
        """Yield why a model or seed may not be built."""
        merge = self.merges.get(node.unique_id)
        if not isinstance(node, ModelNode) or node.materialized != "merge":
            yield _problem(
                node, f"{node.name} is no merge, and no guard limits what it writes", "build it in a terminal"
            )
        elif merge is None and node.config.expect_merge is None:
            hint = "add `expect_merge` (docs/guides/merge-guardrails.md); " + _RESTART
            yield _problem(node, f"{node.name} has no `expect_merge`: nothing limits what it writes", hint)
        elif merge is None:
            yield _problem(node, f"{node.name} is none of the merges that may be built", _RESTART)
        else:
            differences = list(merge.differences(_AcceptedMerge.of(node)))
            if _has_hooks(node) and _hook_values(prepared) != self.hook_values:
                differences.append("macros or vars, which its hooks may use")
            if differences:
                yield _problem(
                    node, f"{node.name} has changed in more than its MERGE: {', '.join(differences)}", _RESTART
                )

    def _check_run_hooks(self, prepared: Prepared, *, may_write: bool) -> None:
        """Raise ProblemsError where `on-run-start` or `on-run-end` may not run."""
        hooks, place = _run_hooks(prepared), Place("pyproject.toml", 1, 1)
        if any(hooks) and not may_write:
            _refuse("the project has hooks of a run, which may write", place, "start the server with --allow-write")
        if hooks != self.run_hooks or (any(hooks) and _hook_values(prepared) != self.hook_values):
            _refuse("the hooks of a run (`on-run-start`, `on-run-end`), or macros or vars of them, have changed", place)


def _refuse(message: str, place: Place, hint: str = _RESTART) -> NoReturn:
    """Raise ProblemsError."""
    raise ProblemsError([Problem(CODE, message, place, hint)])


def _problem(node: Node, message: str, hint: str) -> Problem:
    return Problem(CODE, message, node.place, hint)


def _has_hooks(node: ModelNode) -> bool:
    return bool(node.config.pre_hook or node.config.post_hook)


def _run_hooks(prepared: Prepared) -> tuple[tuple[str, ...], ...]:
    settings = prepared.files.settings
    return tuple(settings.on_run_start), tuple(settings.on_run_end)


def _hook_values(prepared: Prepared) -> tuple[Any, ...]:
    files = prepared.files
    texts = [*files.macros, *(text for package in files.packages.values() for text in package)]
    return tuple((source.path, source.text) for source in texts), files.vars


def _lint(prepared: Prepared) -> tuple[Any, ...]:
    files = prepared.files
    return files.settings.lint, Baseline.find(files.root, files.settings.lint.baseline)
