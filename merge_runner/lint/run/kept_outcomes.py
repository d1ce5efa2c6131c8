"""What was found in all models of a kept project, as one file: what a few changed texts do not concern is taken whole.

Each outcome is also kept with the answers to its questions (`kept_checks`). Here these need not be asked again: they
are functions of the kept project, except those about models whose texts have changed since, the environment, and who
writes a table of several models.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
from collections.abc import Mapping
from pathlib import Path

from merge_runner.atomic import keep_newest, write_atomic
from merge_runner.contributions import key
from merge_runner.kept_values import PROTOCOL, read_values
from merge_runner.lint.check import Checked
from merge_runner.lint.run.cache import FOLDER
from merge_runner.plan.layout.answers import Answers
from merge_runner.plan.load.project_context import Base, Prepared

_OF_PROJECT = frozenset({"var", "macros", "node", "ref", "table", "ephemeral"})
"""Kinds of questions whose answers follow from the kept project, where they are not about a changed model."""
_KEPT = 4
"""Files that stay: a project is linted with a handful of options."""
_BYTES = 100_000_000
"""They stay as long as they are no larger together; one always does."""
_HASH = 20
_LOG = logging.getLogger("merge_runner.contributions")


class KeptOutcomes:
    """The outcomes for the models of the kept project `base`, by the rules and all else that is hashed in `common`."""

    def __init__(self, prepared: Prepared, base: Base, common: bytes, answers: Answers) -> None:
        self._base = base
        self._changed = base.changed
        self._answers = answers
        self._file = prepared.target_path / FOLDER / f"{key('outcomes', common, base.id).hex()}.bin"
        self._found: Mapping[str, Checked] | None = None

    def get(self, unique_id: str) -> Checked | None:
        """Return the outcome for a model; None where it is not kept here, or its questions have to be asked."""
        if self._found is None:
            self._found = _read(self._file)
        checked = self._found.get(unique_id)
        if checked is None or unique_id in self._changed:
            return None
        for kind, name in checked.reads:
            asked = kind not in _OF_PROJECT and not (kind == "writers" and self._answers.is_only_writer(name))
            if asked or (kind == "node" and name in self._changed):
                return None
        return checked

    def write(self, outcomes: Mapping[str, Checked]) -> None:
        """Keep the outcomes for all models, unless they are those of changed texts, or are kept already."""
        if self._changed or not outcomes or (self._found and outcomes.keys() <= self._found.keys()):
            return
        if not self._base.unchanged():
            return  # what was found may be of other files than those that the kept project has
        content = pickle.dumps(dict(outcomes), PROTOCOL)
        try:
            write_atomic(self._file, _hash(content) + content)
            keep_newest(self._file.parent, "*.bin", _KEPT, _BYTES)
        except OSError as error:
            _LOG.debug("%s: %s; the outcomes are not kept", self._file, error)


def _read(file: Path) -> Mapping[str, Checked]:
    """Return the outcomes in a file; none where it cannot be read."""
    try:
        content = file.read_bytes()
        if _hash(memoryview(content)[_HASH:]) != content[:_HASH]:
            return {}
        found = read_values(content[_HASH:])
    except FileNotFoundError:
        return {}
    except Exception as error:  # bytes of another process may mean anything
        _LOG.debug("%s: %s; each outcome is looked for", file, error)
        return {}
    return found if isinstance(found, dict) else {}


def _hash(content: bytes | memoryview) -> bytes:
    return hashlib.blake2b(content, digest_size=_HASH).digest()
