"""A project as an editor has it: its files, with the texts that are not saved yet.

Most changes are in the SQL of one model. The project is not loaded again for these, on disk or not: the new text takes
the place of the old one where both ask for the same refs, sources, config, vars and macros. Where the newest state
cannot be loaded, the last one that could be serves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
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
from merge_runner.lsp.documents.known_project import KnownProject
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
from merge_runner.template.captured import Captured
from merge_runner.text import Place

_FOR_ALL = (PYPROJECT, PROFILES, RECORDED, SELECTORS)
_HALF_WRITTEN = ("jinja-syntax", "undefined-name", "unknown-ref", "unknown-source")
"""Codes of what a tag or a name in it is until all of it is typed."""
_MOST_CALLERS = 20
"""Models that are looked at for what is wrong in a macro that they call."""


class OpenProject:
    """The project at `root`. `update` and `look` are called by one thread at a time, `known` may be read by any."""

    def __init__(self, root: Path, env: Mapping[str, str]) -> None:
        self.root = root
        self.known: KnownProject | None = None
        self._whole: KnownProject | None = None
        """The last state in which every model could be read."""
        self._env = env
        self._texts: dict[str, str] = {}
        self._loaded: dict[str, str] | None = None
        """The texts of open documents that `known` has; None: it is to be loaded again."""
        self._on_disk: Mapping[str, bytes] | None = None
        """Hashes of the project's files as `known` has them; None: nothing is known of them."""
        self._is_checked = False
        """Whether nothing can have changed on disk since they were hashed."""
        self._jinja: tuple[Problem, ...] = ()
        self._problems: tuple[Problem, ...] = ()
        self._replaced: tuple[Prepared, str, str, Prepared | None] | None = None

    def is_shared(self, path: str) -> bool:
        """Whether other files may depend on this one: it is no model and no plain file."""
        return self.known is not None and self.known.model_at(path) is None and not self._is_plain(path)

    def is_own(self, path: str) -> bool:
        """Whether a file is one that the project reads, as far as that is known."""
        return self.known is not None and not self._is_plain(path)

    def check_files(self) -> None:
        """See what has changed on disk when the project is next looked at: something may have."""
        self._is_checked = False

    def update(self, texts: Mapping[str, str], path: str) -> None:
        """Take the texts of the open documents, by path in the project, to look at that of `path`."""
        self._texts = dict(texts)
        if self._is_current(path):
            return
        self._loaded = dict(self._texts)
        try:
            prepared, self._jinja = prepare_to_lint(self.root, Flags(), RecordingEnv(self._env), self._unsaved())
        except ProblemsError as error:
            self._problems = error.problems
            return
        self._problems = ()
        self.known = KnownProject(prepared, self._texts)
        if not self._jinja:
            self._whole = self.known

    def _is_current(self, path: str) -> bool:
        """Whether `known` has all that is newest; changes of single models are given to it, but that of `path`."""
        on_disk = self._changed_on_disk()
        if self._loaded is None or on_disk is None:
            return False
        if self._problems:
            return self._loaded == self._texts and not on_disk  # as wrong as before
        on_disk -= self._loaded.keys() & self._texts.keys()  # the text of an open document is the editor's
        for each in self._texts.keys() - self._loaded.keys() - on_disk:
            if self._texts[each] == self._saved(each):
                self._loaded[each] = self._texts[each]
        changed = {*self._changed(self._loaded), *on_disk}
        return all(map(self._takes, changed - {path})) and all(map(self._fits, changed & {path}))

    def _unsaved(self) -> dict[str, str]:
        return {path: text for path, text in self._texts.items() if text != self._saved(path)}

    def _saved(self, path: str) -> str | None:
        """Return the text of a file on disk; None where it cannot be read."""
        read = read_text(self.root / path, path, Problems(), Boundary(self.root))
        return read.text if read is not None else None

    def known_for(self, path: str) -> KnownProject | None:
        """Return the last state that could be loaded; for a model with a fault in its Jinja the one before that."""
        known, whole = self.known, self._whole
        if known is None or whole is None or known.model_at(path) is not None or whole.model_at(path) is None:
            return known
        return whole if path in known.own_files else known

    def _changed(self, loaded: Mapping[str, str]) -> Iterator[str]:
        return (path for path in {*loaded, *self._texts} if loaded.get(path) != self._texts.get(path))

    def _changed_on_disk(self) -> set[str] | None:
        """Return the files that have changed on disk since this was last asked; None where that cannot be known."""
        if self._is_checked:
            return set()
        self._is_checked = True
        state = ProjectState.of(self.root, None, [profiles_outside(self._env, None)])
        before, now = self._on_disk, state.hashes if state is not None else None
        self._on_disk = now
        if before is None or now is None:
            return None
        return {path for path in {*before, *now} if before.get(path) != now.get(path)}

    def _takes(self, path: str) -> bool:
        """Give `known` the newest text of a file that has another one, where that leaves the graph as it is."""
        assert self.known is not None and self._loaded is not None
        newest, had = self._texts.get(path, self._saved(path)), self._loaded.get(path)
        node = self.known.model_at(path)
        if node is not None and newest is not None:
            changed = self._with_text(self.known.prepared, node, newest)
            if changed is None:
                return False
            if changed is not self.known.prepared:
                self.known = KnownProject(changed, self._texts)
                self._whole = self._whole if self._jinja else self.known
        elif newest != had and (self._on_disk is None or path in self._on_disk):
            return False
        if path in self._texts:
            self._loaded[path] = self._texts[path]
        else:
            self._loaded.pop(path, None)
        return True

    def _fits(self, path: str) -> bool:
        """Whether a text that has changed leaves the graph as it is."""
        if path not in self._texts or self.known is None:
            return False
        known = self.known
        node = known.model_at(path)
        if node is None:
            return self._is_plain(path)
        if any(problem.place is not None and problem.place.path == path for problem in self._jinja):
            return False
        text = self._texts[path]
        fits = self._with_text(known.prepared, node, text) is not None
        return fits or bool(_faults(with_model_text(known.prepared, node, text), node))

    def _is_plain(self, path: str) -> bool:
        """Whether a file is none that a project reads."""
        assert self.known is not None
        return path not in self.known.own_files and path not in _FOR_ALL

    def _with_text(self, prepared: Prepared, node: ModelNode, text: str) -> Prepared | None:
        """Return the project with another text of a model; None where that may change more than the model."""
        if text == node.raw_code:
            return prepared
        known = self._replaced
        if known is None or known[0] is not prepared or known[1:3] != (node.path, text):
            known = self._replaced = (prepared, node.path, text, _with_text(prepared, node, text))
        return known[3]

    def look(self, path: str) -> Diagnosis:
        """Return what is known of the file `path`, whose text is among those of `update`."""
        found = [_placed(problem) for problem in self._problems if _is_at(problem, path)]
        if self.known is None:
            return Diagnosis(found or self._not_loaded(path))
        if self._is_plain(path) and not _has_sql(path):
            return Diagnosis(found)
        if self._problems and not self._is_plain(path) and self.known.model_at(path) is None:
            return Diagnosis(found)  # what lint knows of it is about another text
        try:
            report = self._report(self.known, path)
        except ProblemsError as error:
            return Diagnosis([*found, *(_placed(problem) for problem in error.problems if _is_at(problem, path))])
        remarks = found + [of_finding(item) for item in report.findings if item.place.path == path]
        merges = report.merges if self._is_plain(path) else ()
        return Diagnosis(remarks, merges, self.known.prepared.conceal)

    def _not_loaded(self, path: str) -> list[Remark]:
        """Return why nothing is known yet, at the beginning of a file that is not wrong itself."""
        first = self._problems[0]
        where = "" if first.place is None else f"{first.place}: "
        message = f"not linted, the project cannot be loaded: {where}{first.message}"
        return [of_problem(replace(first, message=message), Place(path, 1, 1))]

    def _report(self, known: KnownProject, path: str) -> Report:
        """Lint the models that have findings in a file. Raises ProblemsError for settings or layouts that are wrong."""
        prepared = known.prepared
        jinja = [problem for problem in self._jinja if _is_at(problem, path)]
        graph, files = prepared.graph, prepared.files
        if self._is_plain(path):
            return self._report_plain(files, path)
        node = known.model_at(path)
        if node is not None:
            changed = self._with_text(prepared, node, self._texts[path])
            if changed is None:  # its newest text cannot be loaded: nothing else is known of it
                changed = with_model_text(prepared, node, self._texts[path])
                return _unkept(changed, [], [*jinja, *_faults(changed, node)])
            return _unkept(changed, [node.unique_id], jinja)
        if path in _FOR_ALL:
            return _unkept(prepared, [], jinja)
        models = [node for node in graph.nodes.values() if isinstance(node, ModelNode)]
        macros = {key for key, macro in graph.macros.items() if macro.path == path}
        calling = [node.unique_id for node in models if not macros.isdisjoint(node.macros)]
        described = [node.unique_id for node in models if node.patch_path == path]
        return _unkept(prepared, [*described, *calling[:_MOST_CALLERS]], jinja)

    def _report_plain(self, files: ProjectFiles, path: str) -> Report:
        settings = files.settings
        around = Surroundings(self.root, settings.lint, settings.places, files.macros, files.vars)
        file = with_text(PlainFile(path, self.root / path, None), self._texts[path])
        return lint_files([file], LintOptions(), self._env, around)


def _has_sql(path: str) -> bool:
    return path.lower().endswith(SUFFIXES)


def _with_text(prepared: Prepared, node: ModelNode, text: str) -> Prepared | None:
    changed = with_model_text(prepared, node, text)
    before, after = _captured(prepared, node), _captured(changed, node)
    if before is None or after is None or [*map(_of_graph, before)] != [*map(_of_graph, after)]:
        return None
    macros = frozenset(name for captured in after for name in captured.macros)
    return changed if prepared.templates.differs_by_run(text, macros) == node.differs_by_run else None


def _unkept(prepared: Prepared, ids: Sequence[str], jinja: Sequence[Problem]) -> Report:
    """Lint models of which nothing is to be kept on disk: their texts change with each key."""
    return lint_project(prepared, ids, jinja=jinja, processes=1, layouts=Layouts.load(prepared))


def _captured(prepared: Prepared, node: ModelNode) -> list[Captured] | None:
    """Return what a model asks for in each kind of run; None where it cannot be rendered."""
    runs = [run.invocation(prepared.invocation) for run in RUNS] if node.differs_by_run else [prepared.invocation]
    try:
        return [replace(prepared, invocation=each).compiler.rendered(node.unique_id).captured for each in runs]
    except ProblemsError:
        return None


def _faults(prepared: Prepared, node: ModelNode) -> tuple[Problem, ...]:
    """Return the errors of a model whose tags are half written: the graph stays as it was until they can be read."""
    try:
        prepared.compiler.rendered(node.unique_id)
    except ProblemsError as error:
        alone = all(each.code in _HALF_WRITTEN and _is_at(each, node.path) for each in error.problems)
        return error.problems if alone else ()
    return ()


def _of_graph(captured: Captured) -> tuple[object, ...]:
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


def _placed(problem: Problem) -> Remark:
    assert problem.place is not None
    return of_problem(problem, problem.place)
