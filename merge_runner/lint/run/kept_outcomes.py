"""What was found in all models of a kept project, as one file: what a few changed texts do not concern is taken whole.

Each outcome is also kept with the answers to its questions (`kept_checks`). Here these need not be asked again: they
are functions of the kept project, except those about models whose texts have changed since, the environment, and who
writes a table of several models. So the file says which outcomes depend on each node, and which have to be asked.
"""

from __future__ import annotations

import logging
import pickle
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, cast

from merge_runner.contributions import key
from merge_runner.kept_values import PROTOCOL, pack, read_values
from merge_runner.lazy_dataclass import dataclass
from merge_runner.lint.check import Checked
from merge_runner.lint.finding import Finding
from merge_runner.lint.run.authors_texts import may_hide_findings
from merge_runner.lint.run.cache import FOLDER
from merge_runner.plan.layout.answers import Answers
from merge_runner.plan.load.project_context import Base, Prepared
from merge_runner.reads import Question
from merge_runner.verified_file import VerifiedFile, write_verified

_OF_PROJECT = frozenset({"var", "macros", "node", "ref", "table", "ephemeral"})
"""Kinds of questions whose answers follow from the kept project, where they are not about a changed model."""
_KEPT = 4
"""Files that stay: a project is linted with a handful of options."""
_BYTES = 100_000_000
"""They stay as long as they are no larger together; one always does."""
_LOG = logging.getLogger("merge_runner.contributions")


@dataclass(frozen=True)
class _Kept:
    """What a file has, but for the outcomes."""

    of_node: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The models whose outcomes depend on a node, by the id of the node."""
    asked: frozenset[str] = frozenset()
    """The models whose questions have to be asked in any case."""
    of_project: tuple[Finding, ...] | None = None
    """What rules about the project found in all models."""
    commented: frozenset[str] = frozenset()
    """The paths of the files that may have comments that hide findings."""
    outcomes: tuple[int, int] = (0, 0)
    """Where the outcomes are, by model, without what each was made of."""
    reads: tuple[int, int] = (0, 0)
    """Where is what each outcome was made of, which is read where another file is written."""


class KeptOutcomes:
    """The outcomes for the models of the kept project `base`, by the rules and all else that is hashed in `common`."""

    def __init__(self, prepared: Prepared, base: Base, common: bytes, answers: Answers) -> None:
        self._base = base
        self._changed = base.changed
        self._answers = answers
        self._file = prepared.target_path / FOLDER / f"{key('outcomes', common, base.id).hex()}.bin"

    @cached_property
    def _opened(self) -> tuple[_Kept, VerifiedFile | None]:
        """What a file has, and the file; nothing where it cannot be read."""
        try:
            file = VerifiedFile(self._file)
            return _Kept(*read_values(file.head())), file
        except FileNotFoundError:
            pass
        except Exception as error:  # bytes of another process may mean anything
            _LOG.debug("%s: %s; each outcome is looked for", self._file, error)
        return _Kept(), None

    @property
    def _kept(self) -> _Kept:
        return self._opened[0]

    @cached_property
    def _outcomes(self) -> Mapping[str, Checked]:
        return self._part(self._kept.outcomes)

    def _part(self, place: tuple[int, int]) -> Mapping[str, Any]:
        file = self._opened[1]
        try:
            return {} if file is None else cast("Mapping[str, Any]", file.values(place))
        except Exception as error:
            _LOG.debug("%s: %s; each outcome is looked for", self._file, error)
            return {}

    @cached_property
    def _stale(self) -> frozenset[str]:
        """The models whose outcomes are not taken: they depend on what has changed, or on what has to be asked."""
        below = (self._kept.of_node.get(unique_id, ()) for unique_id in self._changed)
        return self._kept.asked.union(self._changed, *below)

    def get(self, unique_id: str) -> Checked | None:
        """Return the outcome for a model; None where it is not kept here, or its questions have to be asked.

        It does not say what it was made of.
        """
        return None if unique_id in self._stale else self._outcomes.get(unique_id)

    @property
    def are_kept(self) -> bool:
        """Whether there are any."""
        return self._opened[1] is not None

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

    def write(self, outcomes: Mapping[str, Checked], of_project: Sequence[Finding]) -> bool:
        """Keep the outcomes for all models, unless they are those of changed texts, or are kept already.

        Return whether they were written.
        """
        if self._changed or not outcomes or outcomes.keys() <= self._outcomes.keys():
            return False
        if not self._base.unchanged():
            return False  # what was found may be of other files than those that the kept project has
        before = self._part(self._kept.reads)
        reads = {
            unique_id: checked.reads or before.get(unique_id, frozenset()) for unique_id, checked in outcomes.items()
        }
        bare = {unique_id: replace(checked, reads=frozenset()) for unique_id, checked in outcomes.items()}

        def write(body: Callable[[bytes], tuple[int, int]]) -> bytes:
            places = pack({"outcomes": bare, "reads": reads}, body)
            return pickle.dumps((*self._of(reads, tuple(of_project)), places["outcomes"], places["reads"]), PROTOCOL)

        try:
            write_verified(self._file, write, most=_KEPT, most_bytes=_BYTES)
            self._base.confirm()
        except OSError as error:
            _LOG.debug("%s: %s; the outcomes are not kept", self._file, error)
            return False
        return True

    def _of(self, reads: Mapping[str, frozenset[Question]], of_project: tuple[Finding, ...]) -> tuple[Any, ...]:
        """Return the fields of what is kept, but for the places, of outcomes that were made of `reads`."""
        of_node: defaultdict[str, list[str]] = defaultdict(list)
        asked = set()
        for unique_id, questions in reads.items():
            if not questions or not all(map(self._is_of_project, questions)):
                asked.add(unique_id)
            for kind, name in questions:
                if kind == "node":
                    of_node[name].append(unique_id)
        texts = {path: self._base.contents.get(path) for path in self._base.contents}
        commented = frozenset(path for path, text in texts.items() if text is None or may_hide_findings(text))
        return {name: tuple(ids) for name, ids in of_node.items()}, frozenset(asked), of_project, commented

    def _is_of_project(self, question: Question) -> bool:
        """Whether the answer follows from the kept project; a changed text leaves tables as they are."""
        kind, name = question
        return kind in _OF_PROJECT or (kind == "writers" and self._answers.is_only_writer(name))
