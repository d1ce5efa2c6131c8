"""What was found in all models of a kept project, as one file: what a few changed texts do not concern is taken whole.

Each outcome is also kept with the answers to its questions (`kept_checks`). Here these need not be asked again: they
are functions of the kept project, except those about models whose texts have changed since, the environment, and who
writes a table of several models. So the file says which outcomes depend on each node, and which have to be asked.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from merge_runner.atomic import keep_newest, write_atomic
from merge_runner.contributions import key
from merge_runner.kept_values import PROTOCOL, read_values
from merge_runner.lazy_dataclass import dataclass
from merge_runner.lint.check import Checked
from merge_runner.lint.finding import Finding
from merge_runner.lint.run.authors_texts import may_hide_findings
from merge_runner.lint.run.cache import FOLDER
from merge_runner.plan.layout.answers import Answers
from merge_runner.plan.load.project_context import Base, Prepared
from merge_runner.reads import Question

_OF_PROJECT = frozenset({"var", "macros", "node", "ref", "table", "ephemeral"})
"""Kinds of questions whose answers follow from the kept project, where they are not about a changed model."""
_KEPT = 4
"""Files that stay: a project is linted with a handful of options."""
_BYTES = 100_000_000
"""They stay as long as they are no larger together; one always does."""
_HASH = 20
_LOG = logging.getLogger("merge_runner.contributions")


@dataclass(frozen=True)
class _Kept:
    """What a file has."""

    outcomes: Mapping[str, Checked] = field(default_factory=dict)
    """By model, without what each was made of."""
    of_node: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The models whose outcomes depend on a node, by the id of the node."""
    asked: frozenset[str] = frozenset()
    """The models whose questions have to be asked in any case."""
    of_project: tuple[Finding, ...] | None = None
    """What rules about the project found in all models."""
    commented: frozenset[str] = frozenset()
    """The paths of the files that may have comments that hide findings."""
    reads: bytes = b""
    """What each outcome was made of: a pickle, which is read where another file is written."""


class KeptOutcomes:
    """The outcomes for the models of the kept project `base`, by the rules and all else that is hashed in `common`."""

    def __init__(self, prepared: Prepared, base: Base, common: bytes, answers: Answers) -> None:
        self._base = base
        self._changed = base.changed
        self._answers = answers
        self._file = prepared.target_path / FOLDER / f"{key('outcomes', common, base.id).hex()}.bin"

    @cached_property
    def _kept(self) -> _Kept:
        return _read(self._file)

    @cached_property
    def _stale(self) -> frozenset[str]:
        """The models whose outcomes are not taken: they depend on what has changed, or on what has to be asked."""
        below = (self._kept.of_node.get(unique_id, ()) for unique_id in self._changed)
        return self._kept.asked.union(self._changed, *below)

    def get(self, unique_id: str) -> Checked | None:
        """Return the outcome for a model; None where it is not kept here, or its questions have to be asked.

        It does not say what it was made of.
        """
        return None if unique_id in self._stale else self._kept.outcomes.get(unique_id)

    @property
    def are_kept(self) -> bool:
        """Whether there are any."""
        return bool(self._kept.outcomes)

    @property
    def of_project(self) -> tuple[Finding, ...] | None:
        """What rules about the project found in all models, before any text changed; None: it is not kept."""
        return self._kept.of_project

    def are_uncommented(self, path: str) -> bool:
        """Return whether a file certainly has no comment that hides findings, as is known without its text."""
        if not self.are_kept or path in self._kept.commented or path in self._changed_paths:
            return False
        return path in self._base.contents

    @cached_property
    def _changed_paths(self) -> frozenset[str]:
        return frozenset(self._base.graph.model(unique_id).path for unique_id in self._changed)

    @property
    def changed(self) -> frozenset[str]:
        """The models whose texts have changed since."""
        return self._changed

    def write(self, outcomes: Mapping[str, Checked], of_project: Sequence[Finding]) -> None:
        """Keep the outcomes for all models, unless they are those of changed texts, or are kept already."""
        if self._changed or not outcomes or outcomes.keys() <= self._kept.outcomes.keys():
            return
        if not self._base.unchanged():
            return  # what was found may be of other files than those that the kept project has
        before = read_values(self._kept.reads) if self._kept.reads else {}
        reads = {
            unique_id: checked.reads or before.get(unique_id, frozenset()) for unique_id, checked in outcomes.items()
        }
        content = pickle.dumps(self._of(outcomes, reads, tuple(of_project)), PROTOCOL)
        try:
            write_atomic(self._file, _hash(content), content, synced=False)
            keep_newest(self._file.parent, "*.bin", _KEPT, _BYTES)
        except OSError as error:
            _LOG.debug("%s: %s; the outcomes are not kept", self._file, error)

    def _of(
        self,
        outcomes: Mapping[str, Checked],
        reads: Mapping[str, frozenset[Question]],
        of_project: tuple[Finding, ...],
    ) -> tuple[Any, ...]:
        """Return the fields of what is kept of these outcomes."""
        of_node: dict[str, tuple[str, ...]] = {}
        asked = set()
        for unique_id, questions in reads.items():
            if not questions or not all(map(self._is_of_project, questions)):
                asked.add(unique_id)
            for kind, name in questions:
                if kind == "node":
                    of_node[name] = (*of_node.get(name, ()), unique_id)
        bare = {unique_id: replace(checked, reads=frozenset()) for unique_id, checked in outcomes.items()}
        texts = {path: self._base.contents.get(path) for path in self._base.contents}
        commented = frozenset(path for path, text in texts.items() if text is None or may_hide_findings(text))
        return bare, of_node, frozenset(asked), of_project, commented, pickle.dumps(reads, PROTOCOL)

    def _is_of_project(self, question: Question) -> bool:
        """Whether the answer follows from the kept project; a changed text leaves tables as they are."""
        kind, name = question
        return kind in _OF_PROJECT or (kind == "writers" and self._answers.is_only_writer(name))


def _read(file: Path) -> _Kept:
    """Return what a file has; nothing where it cannot be read."""
    try:
        content = file.read_bytes()
        if _hash(memoryview(content)[_HASH:]) != content[:_HASH]:
            return _Kept()
        return _Kept(*read_values(content[_HASH:]))
    except FileNotFoundError:
        return _Kept()
    except Exception as error:  # bytes of another process may mean anything
        _LOG.debug("%s: %s; each outcome is looked for", file, error)
        return _Kept()


def _hash(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=_HASH).digest()
