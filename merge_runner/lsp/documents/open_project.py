"""A project as an editor has it: its files, with the texts that are not saved yet.

Most changes are in the SQL of one model. The project is not loaded again for these, on disk or not: the new text takes
the place of the old one where both ask for the same refs, sources, config, vars and macros. Where the newest state
cannot be loaded, the last one that could be serves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.graph.graph import ModelNode
from merge_runner.lint.containers.registry import SUFFIXES
from merge_runner.lint.options import LintOptions
from merge_runner.lint.report import Report
from merge_runner.lint.run.lint_files import Surroundings, lint_files
from merge_runner.lint.run.lint_project import lint_project
from merge_runner.lint.run.plain_file import PlainFile, with_text
from merge_runner.lint.run.renderings import RUNS
from merge_runner.lsp.documents.project_index import ProjectIndex
from merge_runner.lsp.documents.remark import Diagnosis, Remark, of_finding, of_problem
from merge_runner.lsp.documents.unsaved import with_model_text
from merge_runner.plan.layout.layouts import Layouts
from merge_runner.plan.load.flags import Flags
from merge_runner.plan.load.project_context import Prepared, prepare_to_lint
from merge_runner.project.load.files import ProjectFiles
from merge_runner.project.load.find_project import PYPROJECT
from merge_runner.project.load.state import ProjectState, profiles_outside
from merge_runner.project.schema.layout_file import RECORDED
from merge_runner.project.schema.profile import FILE as PROFILES
from merge_runner.project.schema.selectors import FILE as SELECTORS
from merge_runner.project.syntax.environment import RecordingEnv
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project_file import Boundary
from merge_runner.template.capture import Capture
from merge_runner.text import Place

_FOR_ALL = (PYPROJECT, PROFILES, RECORDED, SELECTORS)
_HALF_WRITTEN = ("jinja-syntax", "undefined-name", "unknown-ref", "unknown-source")
"""Codes of what a tag or a name in it is until all of it is typed."""
_MOST_CALLERS = 20
"""Models that are looked at for what is wrong in a macro that they call."""


@dataclass(frozen=True)
class NotLoaded:
    """A project that has not been loaded yet."""


@dataclass(frozen=True)
class Loaded:
    """A project as it could be loaded. `texts` are those of the open documents that it has, by path.

    `jinja` says which of its models cannot be read; `whole` is the last state in which all could be, if there was one.
    """

    project: ProjectIndex
    texts: Mapping[str, str]
    jinja: tuple[Problem, ...] = ()
    whole: ProjectIndex | None = None

    def with_text(self, path: str, text: str | None) -> Loaded:
        """Return the state with another text of an open document; None: it is closed."""
        others = {name: other for name, other in self.texts.items() if name != path}
        return replace(self, texts=others if text is None else {**others, path: text})


@dataclass(frozen=True)
class Failed:
    """A project that cannot be loaded with these texts, and the last state that could be; None: there was none."""

    problems: tuple[Problem, ...]
    texts: Mapping[str, str]
    last: Loaded | None


class OpenProject:
    """The project at `root`. `update` and `look` are called by one thread at a time, `project` may be read by any."""

    def __init__(self, root: Path, env: Mapping[str, str]) -> None:
        self.root = root
        self._env = env
        self._state: NotLoaded | Loaded | Failed = NotLoaded()
        self._texts: dict[str, str] = {}
        self._on_disk: Mapping[str, bytes] | None = None
        """Hashes of the project's files when it was loaded; None: nothing is known of them."""
        self._is_checked = False
        """Whether nothing can have changed on disk since they were hashed."""
        self._replaced: tuple[Prepared, str, str, Prepared | None] | None = None

    @property
    def _loaded(self) -> Loaded | None:
        """The newest state that could be loaded."""
        state = self._state
        return state if isinstance(state, Loaded) else state.last if isinstance(state, Failed) else None

    @property
    def project(self) -> ProjectIndex | None:
        """The project as it could last be loaded; None where it never could be."""
        loaded = self._loaded
        return loaded.project if loaded is not None else None

    def is_shared(self, path: str) -> bool:
        """Whether other files may depend on this one: it is no model and no plain file."""
        project = self.project
        return project is not None and project.model_at(path) is None and not _is_plain(project, path)

    def is_own(self, path: str) -> bool:
        """Whether a file is one that the project reads, as far as that is known."""
        project = self.project
        return project is not None and not _is_plain(project, path)

    def check_files(self) -> None:
        """See what has changed on disk when the project is next looked at: something may have."""
        self._is_checked = False

    def update(self, texts: Mapping[str, str], path: str) -> None:
        """Take the texts of the open documents, by path in the project, to look at that of `path`."""
        self._texts = dict(texts)
        if self._is_current(path):
            return
        last, newest = self._loaded, dict(self._texts)
        try:
            prepared, jinja = prepare_to_lint(self.root, Flags(), RecordingEnv(self._env), self._unsaved_texts())
        except ProblemsError as error:
            self._state = Failed(error.problems, newest, last)
            return
        project = ProjectIndex(prepared, newest)
        whole = project if not jinja else last.whole if last is not None else None
        self._state = Loaded(project, newest, tuple(jinja), whole)

    def _is_current(self, path: str) -> bool:
        """Whether the state has all that is newest; changes of single models are given to it, but that of `path`."""
        on_disk = self._changed_on_disk()
        if isinstance(self._state, NotLoaded) or on_disk is None:
            return False
        if isinstance(self._state, Failed):
            return self._state.texts == self._texts and not on_disk  # as wrong as before
        on_disk -= self._state.texts.keys() & self._texts.keys()  # the text of an open document is the editor's
        for new_path in self._texts.keys() - self._state.texts.keys() - on_disk:
            if self._texts[new_path] == self._read_saved(new_path):
                self._state = self._state.with_text(new_path, self._texts[new_path])
        before = self._state.texts
        paths = {name for name in {*before, *self._texts} if before.get(name) != self._texts.get(name)} | on_disk
        return all(map(self._takes, paths - {path})) and all(map(self._fits, paths & {path}))

    def _unsaved_texts(self) -> dict[str, str]:
        return {path: text for path, text in self._texts.items() if text != self._read_saved(path)}

    def _read_saved(self, path: str) -> str | None:
        """Return the text of a file on disk; None where it cannot be read."""
        source = read_text(self.root / path, path, Problems(), Boundary(self.root))
        return source.text if source is not None else None

    def project_for(self, path: str) -> ProjectIndex | None:
        """Return the last state that could be loaded; for a model with a fault in its Jinja the one before that."""
        loaded = self._loaded
        if loaded is None:
            return None
        project, whole = loaded.project, loaded.whole
        if whole is None or project.model_at(path) is not None or whole.model_at(path) is None:
            return project
        return whole if path in project.own_files else project

    def _changed_on_disk(self) -> set[str] | None:
        """Return the files that have changed on disk since this was last asked; None where that cannot be known."""
        if self._is_checked:
            return set()
        # Before the files are hashed: a `check_files` in another thread meanwhile has them hashed once more.
        self._is_checked = True
        state = ProjectState.of(self.root, None, [profiles_outside(self._env, None)])
        before, now = self._on_disk, state.hashes if state is not None else None
        self._on_disk = now
        if before is None or now is None:
            return None
        return {path for path in {*before, *now} if before.get(path) != now.get(path)}

    def _takes(self, path: str) -> bool:
        """Give the state the newest text of a file that has another one, where that leaves the graph as it is."""
        state = self._state
        assert isinstance(state, Loaded)
        newest = self._texts.get(path, self._read_saved(path))
        node = state.project.model_at(path)
        if node is not None and newest is not None:
            prepared = self._with_text(state.project.prepared, node, newest)
            if prepared is None:
                return False
            if prepared is not state.project.prepared:
                project = ProjectIndex(prepared, self._texts)
                state = replace(state, project=project, whole=state.whole if state.jinja else project)
        elif newest != state.texts.get(path) and (self._on_disk is None or path in self._on_disk):
            return False
        self._state = state.with_text(path, self._texts.get(path))
        return True

    def _fits(self, path: str) -> bool:
        """Whether a text that has changed leaves the graph as it is."""
        state = self._state
        if path not in self._texts or not isinstance(state, Loaded):
            return False
        node = state.project.model_at(path)
        if node is None:
            return _is_plain(state.project, path)
        if any(problem.place is not None and problem.place.path == path for problem in state.jinja):
            return False
        text, prepared = self._texts[path], state.project.prepared
        fits = self._with_text(prepared, node, text) is not None
        return fits or bool(_faults(with_model_text(prepared, node, text), node))

    def _with_text(self, prepared: Prepared, node: ModelNode, text: str) -> Prepared | None:
        """Return the project with another text of a model; None where that may change more than the model."""
        if text == node.raw_code:
            return prepared
        cached = self._replaced
        if cached is None or cached[0] is not prepared or cached[1:3] != (node.path, text):
            cached = self._replaced = (prepared, node.path, text, _with_text(prepared, node, text))
        return cached[3]

    def look(self, path: str) -> Diagnosis:
        """Return what is known of the file `path`, whose text is among those of `update`."""
        problems = self._state.problems if isinstance(self._state, Failed) else ()
        remarks = [_remark_of(problem) for problem in problems if _is_at(problem, path)]
        loaded = self._loaded
        if loaded is None:
            return Diagnosis(remarks or _why_not_loaded(problems[0], path))
        project = loaded.project
        is_plain = _is_plain(project, path)
        if is_plain and not _has_sql(path):
            return Diagnosis(remarks)
        if problems and not is_plain and project.model_at(path) is None:
            return Diagnosis(remarks)  # what lint knows of it is about another text
        try:
            report = self._report(loaded, path)
        except ProblemsError as error:
            return Diagnosis([*remarks, *(_remark_of(problem) for problem in error.problems if _is_at(problem, path))])
        remarks += [of_finding(finding) for finding in report.findings if finding.place.path == path]
        return Diagnosis(remarks, report.merges if is_plain else (), project.prepared.conceal)

    def _report(self, loaded: Loaded, path: str) -> Report:
        """Lint the models that have findings in a file. Raises ProblemsError for settings or layouts that are wrong."""
        project, prepared = loaded.project, loaded.project.prepared
        jinja = [problem for problem in loaded.jinja if _is_at(problem, path)]
        graph, files = prepared.graph, prepared.files
        if _is_plain(project, path):
            return self._report_plain(files, path)
        node = project.model_at(path)
        if node is not None:
            with_newest = self._with_text(prepared, node, self._texts[path])
            if with_newest is None:  # its newest text cannot be loaded: nothing else is known of it
                with_newest = with_model_text(prepared, node, self._texts[path])
                return _lint_uncached(with_newest, [], [*jinja, *_faults(with_newest, node)])
            return _lint_uncached(with_newest, [node.unique_id], jinja)
        if path in _FOR_ALL:
            return _lint_uncached(prepared, [], jinja)
        models = [node for node in graph.nodes.values() if isinstance(node, ModelNode)]
        macros = {key for key, macro in graph.macros.items() if macro.path == path}
        calling = [node.unique_id for node in models if not macros.isdisjoint(node.macros)]
        described = [node.unique_id for node in models if node.patch_path == path]
        return _lint_uncached(prepared, [*described, *calling[:_MOST_CALLERS]], jinja)

    def _report_plain(self, files: ProjectFiles, path: str) -> Report:
        settings = files.settings
        around = Surroundings(self.root, settings.lint, settings.places, files.macros, files.vars)
        file = with_text(PlainFile(path, self.root / path, None), self._texts[path])
        return lint_files([file], LintOptions(), self._env, around)


def _is_plain(project: ProjectIndex, path: str) -> bool:
    """Whether a file is none that a project reads."""
    return path not in project.own_files and path not in _FOR_ALL


def _why_not_loaded(first: Problem, path: str) -> list[Remark]:
    """Return why nothing is known yet, at the beginning of a file that is not wrong itself."""
    where = "" if first.place is None else f"{first.place}: "
    message = f"not linted, the project cannot be loaded: {where}{first.message}"
    return [of_problem(replace(first, message=message), Place(path, 1, 1))]


def _has_sql(path: str) -> bool:
    return path.lower().endswith(SUFFIXES)


def _with_text(prepared: Prepared, node: ModelNode, text: str) -> Prepared | None:
    with_text = with_model_text(prepared, node, text)
    before, after = _capture(prepared, node), _capture(with_text, node)
    if before is None or after is None or [*map(_of_graph, before)] != [*map(_of_graph, after)]:
        return None
    macros = frozenset(name for captured in after for name in captured.macros)
    return with_text if prepared.templates.differs_by_run(text, macros) == node.differs_by_run else None


def _lint_uncached(prepared: Prepared, ids: Sequence[str], jinja: Sequence[Problem]) -> Report:
    """Lint models of which nothing is to be kept on disk: their texts change with each key."""
    return lint_project(prepared, ids, jinja=jinja, processes=1, layouts=Layouts.load(prepared))


def _capture(prepared: Prepared, node: ModelNode) -> list[Capture] | None:
    """Return what a model asks for in each kind of run; None where it cannot be rendered."""
    runs = [run.invocation(prepared.invocation) for run in RUNS] if node.differs_by_run else [prepared.invocation]
    try:
        return [
            replace(prepared, invocation=invocation).compiler.render(node.unique_id).captured for invocation in runs
        ]
    except ProblemsError:
        return None


def _faults(prepared: Prepared, node: ModelNode) -> tuple[Problem, ...]:
    """Return the errors of a model whose tags are half written: the graph stays as it was until they can be read."""
    try:
        prepared.compiler.render(node.unique_id)
    except ProblemsError as error:
        alone = all(problem.code in _HALF_WRITTEN and _is_at(problem, node.path) for problem in error.problems)
        return error.problems if alone else ()
    return ()


def _of_graph(captured: Capture) -> tuple[object, ...]:
    """Return what the graph is made of: all but where the refs are."""
    return (
        [ref.name for ref in captured.refs],
        [(source.source, source.table) for source in captured.sources],
        repr(captured.config),
        captured.uses_this,
        captured.vars,
        captured.macros,
        [ref.name for ref in captured.changes],
    )


def _is_at(problem: Problem, path: str) -> bool:
    return problem.place is not None and problem.place.path == path


def _remark_of(problem: Problem) -> Remark:
    assert problem.place is not None
    return of_problem(problem, problem.place)
