"""From a project's folder to its graph: what every command begins with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.contributions import FILE, Contributions
from merge_runner.errors import Problem, Problems, ProblemsError, did_you_mean
from merge_runner.forked import made_in_child
from merge_runner.graph.graph import Graph, ModelNode
from merge_runner.graph.invocation import Invocation
from merge_runner.graph.kept.nodes import KeptNodes, head_of, heads_of
from merge_runner.graph.order import topological
from merge_runner.graph.selection.selection import Selection
from merge_runner.kept_values import Packed
from merge_runner.lazy_dataclass import dataclass
from merge_runner.plan.load.asking import Asking, with_inlined
from merge_runner.plan.load.defer import Deferral
from merge_runner.plan.load.flags import Flags
from merge_runner.plan.load.kept_project import KeptProject
from merge_runner.plan.load.sample import Sample
from merge_runner.project.load.files import ProjectFiles
from merge_runner.project.schema.profile import FILE as PROFILES
from merge_runner.project.schema.secret_names import secret_values, secret_vars
from merge_runner.project.syntax.environment import RecordingEnv, also_asked, asked_of
from merge_runner.reads import Reads
from merge_runner.template.redact import redact, redact_data
from merge_runner.template.rendered import Log
from merge_runner.template.templates import JINJA_PROBLEMS, Templates

if TYPE_CHECKING:
    from merge_runner.graph.selection.methods.lookup import ColumnReach
    from merge_runner.plan.load.compiler import Compiler
    from merge_runner.project.load.state import ProjectState
    from merge_runner.project.schema.selectors import Indirect
    from merge_runner.template.operation.table import Operation


@dataclass(frozen=True)
class Base:
    """The kept project that a project is, except for the nodes `changed`, which are the same tables or views."""

    id: str
    graph: Graph
    """The graph of which this is true; one that was made of it is another."""
    contents: Mapping[str, bytes] = field(repr=False, compare=False)
    """The files as they were read, by path."""
    unchanged: Callable[[], bool] = field(repr=False, compare=False)
    """Whether the files are those that were loaded, still."""
    confirm: Callable[[], None] = field(repr=False, compare=False)
    """Spares later runs the check of the file with the kept project."""
    changed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Prepared:
    """A loaded project with its graph. Nothing but what the graph needs has been rendered."""

    files: ProjectFiles
    templates: Templates
    graph: Graph
    invocation: Invocation
    on_log: Callable[[Log], None] = field(default=lambda _log: None, repr=False)
    """Receives what templates log while they are compiled."""
    deferral: Deferral = field(default_factory=Deferral)
    """The nodes that --defer reads from another target."""
    sample: Sample | None = None
    """Which rows models read of their inputs; None: all."""
    asking: Asking | None = None
    """The running node whose texts may ask the engine; None: none may."""
    kept: Contributions | None = field(default=None, repr=False, compare=False)
    """What files contributed in earlier runs; None: nothing is kept."""
    base: Base | None = field(default=None, repr=False, compare=False)
    """What it has in common with a kept project; None: nothing is known of that."""
    reads: Reads = field(default_factory=lambda: Reads(wanted=False), repr=False, compare=False)
    """What is read while texts are rendered and tables looked up."""

    @cached_property
    def compiler(self) -> Compiler:
        """The compiled texts of this project, each made once however many ask for it."""
        from merge_runner.plan.load.compiler import Compiler

        return Compiler(
            *(self.files, self.templates, self.graph, self.invocation, self.deferral, self.on_log, self.reads),
            *(self.sample, self.asking),
        )

    @cached_property
    def first_run(self) -> Prepared:
        """The same project as a run renders it that has to create its tables or finds them never built."""
        return replace(self, invocation=replace(self.invocation, incremental=False), on_log=lambda _log: None)

    @cached_property
    def whole(self) -> Prepared:
        """The same project where models read all rows of their inputs."""
        return self if self.sample is None else replace(self, sample=None)

    def asking_for(
        self, unique_id: str, operation: Operation, on_read: Callable[[str], None], *, first_run: bool = False
    ) -> Prepared:
        """Return the same project where the texts of one node ask the engine, whose statements `operation` executes.

        `on_read` is called with the id of each node that they refer to, before a statement may read it; `first_run`
        says that the table of the node was never built. What the texts log goes to the operation.
        """
        asking = Asking(with_inlined(self.graph, unique_id), operation, on_read, first_run)
        return replace(self, asking=asking, on_log=lambda _log: None)

    @cached_property
    def model_names(self) -> Mapping[str, str]:
        """The names of all models, by the paths of their files."""
        heads = (*heads_of(self.graph.nodes, ModelNode), *map(head_of, self.graph.disabled))
        names = {head.path: head.name for head in heads if head.unique_id.startswith("model.")}
        return names | {self.files.models[name].source.path: name for name in self.graph.unread}

    @property
    def target_path(self) -> Path:
        """The folder of everything generated."""
        return self.files.root / self.files.settings.target_path

    def select(
        self,
        select: Sequence[str] = (),
        exclude: Sequence[str] = (),
        selector: str | None = None,
        state: Path | None = None,
        indirect: Indirect = "eager",
        changed_inputs: Callable[[], Collection[str]] | None = None,
        column_reach: ColumnReach | None = None,
    ) -> Selection:
        """Return the selected nodes, parents first, and warnings of what matches nothing.

        `changed_inputs` returns what `state:inputs` selects. With `column_reach`, what is below `state:modified` is
        selected only where a changed column can reach it.
        """
        if not (select or exclude or selector is not None):
            return Selection(tuple(topological(self.graph)))
        from merge_runner.graph.selection.select import SelectionContext
        from merge_runner.graph.selection.select import select as select_nodes

        context = SelectionContext(
            self.files.root,
            state,
            self.files.selectors,
            indirect,
            changed_inputs=changed_inputs,
            column_reach=column_reach,
        )
        return select_nodes(self.graph, context, select, exclude, selector)

    @property
    def unread_vars(self) -> list[Problem]:
        """A warning for each var of the invocation that is neither declared nor read: a misspelled one."""
        files, graph = self.files, self.graph
        known = {*files.settings.vars, *graph.vars_read}
        return [
            Problem(
                "unread-var",
                f'--vars: no file reads the var "{name}", and [tool.merge-runner.vars] does not declare it',
                hint=did_you_mean(name, known) or "remove it, or declare it in [tool.merge-runner.vars]",
            )
            for name in sorted(files.unnamed_vars - graph.vars_read)
        ]

    @property
    def secrets(self) -> frozenset[str]:
        """What no message, log or artifact may show: of the profile, of vars, and of what was asked of the environment.

        It grows while templates are rendered. A value that is also a name of the project, or a part of one, is not
        among them: every path and every id would contain it.
        """
        asked = asked_of(self.invocation.env)
        known = {*self.files.profile.secrets, *secret_values(dict(asked)), *secret_vars(self.files.vars)}
        values = frozenset(known)
        if values not in self._secrets:
            self._secrets[values] = frozenset(value for value in values if redact(self._names, (value,)) == self._names)
        return self._secrets[values]

    def forget(self) -> None:
        """Leave what was read of a kept project to be read again."""
        for each in (self.graph.nodes, self.files.models, self.files.data_tests):
            if isinstance(each, KeptNodes | Packed):
                each.forget()

    def conceal(self, text: str) -> str:
        """The text without secrets."""
        return redact(text, self.secrets)

    def reveals_secret(self, text: str) -> bool:
        """Whether the text holds a secret."""
        return self.conceal(text) != text

    def concealed(self, data: Any) -> Any:
        """Plain data without secrets in its texts."""
        return redact_data(data, self.secrets)

    @cached_property
    def _secrets(self) -> dict[frozenset[str], frozenset[str]]:
        return {}

    @cached_property
    def _names(self) -> str:
        profile = self.files.profile
        return "\n".join((self.graph.project, profile.name, profile.target, profile.schema, *self.graph.nodes))


def prepare(
    root: Path, flags: Flags, env: Mapping[str, str], on_log: Callable[[Log], None] = lambda _log: None
) -> Prepared:
    """Loads the project at `root` and builds its graph. Raises ProblemsError with everything that is wrong."""
    problems = Problems()
    env = env if isinstance(env, RecordingEnv) else RecordingEnv(env)
    invocation = Invocation(env, flags.full_refresh)
    whole = KeptProject.of(root, flags, env)
    if whole is not None and (known := _known(whole, flags, invocation, env, checked=False)) is not None:
        return replace(known, on_log=on_log)
    from merge_runner.graph.build import build_graph  # a kept project needs neither YAML nor Jinja

    files = _read(root, flags, env, problems, keep=True)
    try:
        templates = Templates(files.macros, files.packages)
        graph = build_graph(files, templates, invocation, kept=_kept(files))
    except ProblemsError as error:
        found = [problem for problem in error.problems if not _follows(problem, problems)]
        raise ProblemsError(dict.fromkeys([*problems, *found])) from None
    problems.check()
    if whole is not None:
        whole.put(files, graph, env, checked=False)
    return Prepared(files, templates, graph, invocation, on_log)


def prepare_to_lint(
    root: Path,
    flags: Flags,
    env: Mapping[str, str],
    texts: Mapping[str, str] | None = None,
    *,
    cache: bool = True,
    state: ProjectState | None = None,
    meanwhile: Callable[[], object] = lambda: None,
) -> tuple[Prepared, tuple[Problem, ...]]:
    """Return the project, as complete as it can be without a build, and the problems of its Jinja.

    Models whose Jinja cannot be read are no nodes of the graph. A profile may be missing: then nothing is known of
    where the project runs. `texts`, by path in the project, replace those of files, as an editor has them. With `cache`
    what files captured in earlier runs is taken where they read the same now; `state` are the files as they were just
    read. `meanwhile` is called while another process loads a large project. Raises ProblemsError with everything else
    that is wrong.
    """
    env = env if isinstance(env, RecordingEnv) else RecordingEnv(env)
    invocation = Invocation(env, flags.full_refresh)
    whole = KeptProject.of(root, flags, env, state) if cache and not texts else None
    if whole is not None and (known := _known(whole, flags, invocation, env, checked=True)) is not None:
        return replace(known, kept=_kept(known.files), reads=Reads()), ()
    load = partial(_load_to_lint, root, flags, env, invocation, texts, cache=cache)
    same = loaded = None
    if whole is not None and len(whole.loaded.state.contents) >= _LARGE:
        made = made_in_child(partial(_load_and_keep, load, whole, env), meanwhile)
        if made is not None:
            asked, loaded = made
            also_asked(env, asked)
            known = _known(whole, flags, invocation, env, checked=True) if loaded is None else None
            if known is not None:
                return replace(known, kept=_kept(known.files), reads=Reads()), ()
    if loaded is None:
        loaded = load()
        same = whole.put(loaded.files, loaded.graph, env, checked=True) if whole is not None and loaded.clean else None
    files, graph = loaded.files, loaded.graph
    base = None
    if whole is not None and same is not None:
        base = Base(same, graph, whole.loaded.state.contents, lambda: whole.loaded.unchanged, whole.confirm)
    templates = loaded.templates or Templates(files.macros, files.packages)
    kept = _kept(files) if cache else None
    prepared = Prepared(files, templates, graph, invocation, kept=kept, base=base, reads=Reads(cache))
    return prepared, loaded.found


_LARGE = 300
"""A project of so many files is loaded in a separate process: its end gives back the memory that loading takes."""


@dataclass(frozen=True)
class _Loaded:
    """A project as it was loaded, and the problems of its Jinja; `clean`: it has no problem at all."""

    files: ProjectFiles
    graph: Graph
    found: tuple[Problem, ...]
    clean: bool
    templates: Templates | None = None


def _load_to_lint(
    root: Path,
    flags: Flags,
    env: RecordingEnv,
    invocation: Invocation,
    texts: Mapping[str, str] | None,
    *,
    cache: bool,
) -> _Loaded:
    """Load a project, as complete as it can be. Raises ProblemsError as `prepare_to_lint` does."""
    from merge_runner.graph.build import build_graph

    problems, found = Problems(), Problems()
    files = _read(root, flags, env, problems, texts, keep=cache)
    try:
        templates = Templates(files.macros, files.packages)
        with found.collecting():
            templates.check()  # a macro that no model uses yet is as wrong
        graph = build_graph(files, templates, invocation, found, _kept(files) if cache else None)
    except ProblemsError as error:
        found.extend(error.problems)
        raise ProblemsError(dict.fromkeys([*_blocking(problems), *found])) from None
    blocking = [*_blocking(problems), *(problem for problem in found if problem.code not in JINJA_PROBLEMS)]
    if blocking:
        raise ProblemsError(blocking)
    return _Loaded(files, graph, tuple(found), not problems and not found, templates)


def _load_and_keep(
    load: Callable[[], _Loaded], whole: KeptProject, env: RecordingEnv
) -> tuple[Mapping[str, str | None], _Loaded | None]:
    """Load a project and keep it; return what was asked of the environment, and the project where it is not kept."""
    loaded = load()
    kept = loaded.clean and whole.put(loaded.files, loaded.graph, env, checked=True) is not None
    return dict(env.asked), None if kept else replace(loaded, templates=None)


def _known(
    whole: KeptProject, flags: Flags, invocation: Invocation, env: RecordingEnv, *, checked: bool
) -> Prepared | None:
    """Return the project as it is kept, with the texts of a few models that have changed since; None: it is loaded."""
    known = whole.get(env, checked=checked)
    if known is None:
        return None
    files, graph = known.files, known.graph
    templates = Templates(files.macros, files.packages)
    if known.texts:
        if not flags.vars.keys() <= files.settings.vars.keys():
            return None  # the texts say which vars of the invocation are misspelled
        from merge_runner.graph.changed_models import with_changed_models

        changed = with_changed_models(files, graph, known.texts, templates, invocation, _kept(files))
        if changed is None:
            return None
        files, graph = changed
    nodes = frozenset(f"model.{graph.project}.{name}" for name in known.texts)
    base = Base(known.id, graph, whole.loaded.state.contents, lambda: whole.loaded.unchanged, whole.confirm, nodes)
    return Prepared(files, templates, graph, invocation, base=base)


def _kept(files: ProjectFiles) -> Contributions:
    return Contributions(files.root / files.settings.target_path / FILE)


def _blocking(problems: Problems) -> list[Problem]:
    return [problem for problem in problems if problem.code != "no-profiles"]


def _read(
    root: Path,
    flags: Flags,
    env: Mapping[str, str],
    problems: Problems,
    texts: Mapping[str, str] | None = None,
    *,
    keep: bool,
) -> ProjectFiles:
    from merge_runner.project.load.load import read

    return read(
        root,
        problems,
        profile=flags.profile,
        target=flags.target,
        profiles_dir=flags.profiles_dir,
        vars=flags.vars,
        target_path=flags.target_path,
        env=env,
        texts=texts,
        keep=keep,
    )


def _follows(problem: Problem, causes: Iterable[Problem]) -> bool:
    """Whether a problem of the graph may follow from what could not be read."""
    for cause in causes:
        path = cause.place.path if cause.place else ""
        if cause.code in ("unreadable", "not-utf8"):
            name = path.rpartition("/")[2].partition(".")[0]
            if problem.code == "undefined-name" or (problem.code == "unknown-ref" and f'"{name}"' in problem.message):
                return True
        if path.endswith((".yml", ".yaml")) and path != PROFILES and problem.code == "unknown-source":
            return True
        if (path == PROFILES or not path) and problem.code == "raised":  # a macro that looks at `target`
            return True
    return False
