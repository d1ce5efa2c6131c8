"""A project as an earlier run has loaded it: its files and its graph, taken where they are the same now.

The key has what the invocation says and what loads; with the project are kept the hash of each file that loading reads
and the environment variables that it asked for. It is taken where no file has changed but the texts of a few models,
which are read again. A project with a problem is not kept, nor one that may hold a secret.
The file can be deleted at any time; one that is cut, or of another process, costs time alone.
"""

from __future__ import annotations

import logging
import pickle
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from merge_runner.graph.graph import Dag, Graph, ModelNode, Node
from merge_runner.graph.kept.nodes import KeptNodes, heads_by_type, heads_of
from merge_runner.graph.order import topological
from merge_runner.kept_values import PROTOCOL, Packed, pack, read_values
from merge_runner.lazy_dataclass import dataclass
from merge_runner.plan.load.loaded_state import LoadedState, holds_value
from merge_runner.project.load.files import ProjectFiles
from merge_runner.project.schema.secret_names import secret_values, secret_vars
from merge_runner.project.syntax.environment import RecordingEnv
from merge_runner.text import SourceText, as_source
from merge_runner.verified_file import VerifiedFile, write_verified

if TYPE_CHECKING:
    from merge_runner.plan.load.flags import Flags
    from merge_runner.project.load.state import ProjectState

_KEPT = 4
"""Files that stay: a project is loaded for a handful of targets and vars."""
_BYTES = 200_000_000
"""They stay as long as they are no larger together; one always does."""

MOST_CHANGED = 20
"""So many models may have other texts: from more on the project is better loaded, and kept again."""

_PARTS = tuple(each.name for each in fields(Graph) if each.name not in ("dag", "nodes"))
"""What a graph has besides its nodes and their edges."""
_LOG = logging.getLogger("merge_runner.contributions")


@dataclass(frozen=True)
class Known:
    """A project as it is kept, and the texts of the models that have changed since, by the names of the models."""

    id: str
    """A hash of what is kept."""
    files: ProjectFiles
    graph: Graph
    texts: Mapping[str, SourceText]


@dataclass(frozen=True)
class KeptProject:
    """Where the project of one invocation is kept."""

    loaded: LoadedState

    @classmethod
    def of(
        cls, root: Path, flags: Flags, env: Mapping[str, str], state: ProjectState | None = None
    ) -> KeptProject | None:
        """Return what an invocation may find and keep; None: nothing, its files cannot be read.

        `state` are the files as they were just read.
        """
        loaded = LoadedState.of(root, flags, env, state)
        return None if loaded is None else cls(loaded)

    @property
    def file(self) -> Path:
        """The file with the project."""
        return self.loaded.folder / f"{self.loaded.key.hex()}.bin"

    def get(self, env: RecordingEnv, *, checked: bool) -> Known | None:
        """Return the project, if nothing has changed since but the texts of a few models.

        What loading asked of the environment is asked again. `checked`: its macros have to have been checked as well.
        """
        try:
            file = VerifiedFile(self.file)
            stream = file.head()
            hashes, asked, answers, was_checked = read_values(stream)
            now, contents = self.loaded.state.hashes, self.loaded.state.contents
            changed = [path for path in hashes.keys() | now.keys() if hashes.get(path) != now.get(path)]
            if len(changed) > MOST_CHANGED or (checked and not was_checked):
                return None
            if any(path not in hashes or path not in contents for path in changed):
                return None  # a new file, or one that is gone, may change what others mean
            if answers != self.loaded.answers({name: env.whole.get(name) for name in asked}):
                return None
            newest = {path: contents[path] for path in changed}
            files, parts, parents, order, heads, places = read_values(stream)
            nodes, models, data_tests = (Packed(file.values, each) for each in places)
        except FileNotFoundError:
            return None
        except Exception as error:  # bytes of another process may mean anything
            _LOG.debug("%s: %s; the project is loaded again", self.file, error)
            return None
        kept = KeptNodes(nodes, heads)
        texts = _texts(files, kept, newest)
        if texts is None:
            return None
        for name in asked:
            env.get(name)
        self.loaded.state.keep()
        files = replace(files, models=models, data_tests=data_tests)
        return Known(file.checksum.hex(), files, Graph(dag=Dag(parents, order), nodes=kept, **parts), texts)

    def confirm(self) -> None:
        """Check the file, so that no later run needs to: just after it was written that does not count yet."""
        try:
            VerifiedFile(self.file)
        except (OSError, ValueError) as error:
            _LOG.debug("%s: %s; the project will be loaded again", self.file, error)

    def put(self, files: ProjectFiles, graph: Graph, env: RecordingEnv, *, checked: bool) -> str | None:
        """Keep a project without problems, if its files are the same as before it was loaded; return its id."""
        asked = dict(env.asked)
        if [*files.profile.secrets, *secret_values(asked), *secret_vars(files.vars)]:
            return None
        if not self.loaded.unchanged:
            return None

        def write(body: Callable[[bytes], tuple[int, int]]) -> bytes:
            def written(part: bytes) -> tuple[int, int]:
                return body(_without(asked, part))

            places = [pack(each, written) for each in (graph.nodes, files.models, files.data_tests)]
            parts = {name: getattr(graph, name) for name in _PARTS}
            parents = {unique_id: node.depends_on for unique_id, node in graph.nodes.items()}
            rest = replace(files, models={}, data_tests={})
            hashes = dict(self.loaded.state.hashes)
            known = pickle.dumps((hashes, sorted(asked), self.loaded.answers(asked), checked), PROTOCOL)
            order, heads = topological(graph), heads_by_type(graph.nodes)
            return _without(asked, known + pickle.dumps((rest, parts, parents, order, heads, places), PROTOCOL))

        try:
            digest = write_verified(self.file, write, most=_KEPT, most_bytes=_BYTES)
            self.loaded.state.keep()
        except (_AskedError, pickle.PicklingError, TypeError, AttributeError, RecursionError, OSError) as error:
            _LOG.debug("%s: %s; the project is not kept", self.file, error)
            return None
        return digest.hex()


class _AskedError(Exception):
    """What is to be kept has the value of an environment variable that was asked for."""


def _without(asked: Mapping[str, str | None], part: bytes) -> bytes:
    """Return a part of what is kept. Raises _AskedError where it may not be."""
    if holds_value(part, asked):
        raise _AskedError("it has the value of an environment variable")
    return part


def _texts(
    files: ProjectFiles, nodes: Mapping[str, Node], contents: Mapping[str, bytes]
) -> dict[str, SourceText] | None:
    """Return the texts that have changed by the names of their models; None where any of them is more than a model."""
    if not contents:
        return {}
    models = {head.path: head.name for head in heads_of(nodes, ModelNode)}
    others = {source.path for source in (*files.macros, *files.singular_tests, *files.fixtures.values())}
    if any(path not in models or path in others for path in contents):
        return None
    try:
        return {models[path]: SourceText(path, as_source(text.decode("utf-8"))) for path, text in contents.items()}
    except UnicodeDecodeError:
        return None
