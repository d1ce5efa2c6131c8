"""From a project's folder to its graph: what every command begins with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merge_runner.errors import Problem, Problems, ProblemsError, did_you_mean
from merge_runner.graph.build import build_graph
from merge_runner.graph.graph import Graph, ModelNode, nodes_of
from merge_runner.graph.invocation import Invocation
from merge_runner.graph.order import topological
from merge_runner.graph.selection.select import SelectionContext
from merge_runner.graph.selection.select import select as select_nodes
from merge_runner.graph.selection.selection import Selection
from merge_runner.plan.batches.batch_values import NodeBatch
from merge_runner.plan.load.asking import EngineAccess, with_inlined
from merge_runner.plan.load.compiler import Compiler
from merge_runner.plan.load.defer import Deferral
from merge_runner.plan.load.flags import Flags
from merge_runner.plan.load.sample import Sample
from merge_runner.project.load.files import ProjectFiles
from merge_runner.project.load.load import read
from merge_runner.project.load.not_read import UnreadPart
from merge_runner.project.schema.profile import FILE as PROFILES
from merge_runner.project.syntax.environment import (
    ALLOW,
    NOT_ALLOWED,
    SECRET,
    RecordingEnv,
    WithheldValue,
    recorded_reads,
    template_env,
    whole_env,
)
from merge_runner.project.syntax.secret_names import PLACEHOLDER, secret_values, secret_vars
from merge_runner.reads import Reads
from merge_runner.store import Store
from merge_runner.template.redact import redact, redact_data
from merge_runner.template.rendered_text import Log
from merge_runner.template.templates import JINJA_PROBLEMS, Templates

if TYPE_CHECKING:
    from merge_runner.graph.selection.methods.lookup import ColumnReach
    from merge_runner.project.schema.selectors import Indirect
    from merge_runner.template.operation.table import Operation


@dataclass(frozen=True)
class Prepared:
    """A loaded project with its graph. Nothing but what the graph needs has been rendered."""

    files: ProjectFiles
    templates: Templates
    graph: Graph
    invocation: Invocation
    flags: Flags
    """What it was loaded with."""
    on_log: Callable[[Log], None] = field(default=lambda _log: None, repr=False)
    """Receives what templates log while they are compiled."""
    deferral: Deferral = field(default_factory=Deferral)
    """The nodes that --defer reads from another target."""
    sample: Sample | None = None
    """Which rows models read of their inputs; None: all."""
    asking: EngineAccess | None = None
    """The running node whose texts may ask the engine; None: none may."""
    batch: NodeBatch | None = None
    """The batch that one model is rendered for; None: a model with batches is rendered for its first one."""
    store: Store | None = field(default=None, repr=False, compare=False)
    """Results of earlier runs; None: each is made again."""
    reads: Reads = field(default_factory=lambda: Reads(enabled=False), repr=False, compare=False)
    """What is read while texts are rendered and tables looked up."""

    @cached_property
    def compiler(self) -> Compiler:
        """The compiled texts of this project, each made once however many ask for it."""
        return Compiler(
            *(self.files, self.templates, self.graph, self.invocation, self.deferral, self.on_log, self.reads),
            *(self.sample, self.asking, self.batch),
        )

    def in_target(self, target: str) -> Prepared:
        """Load the same project with another target of the profile. Raises ProblemsError."""
        return prepare(self.files.root, replace(self.flags, target=target), self.invocation.env, self.on_log)

    @cached_property
    def first_run(self) -> Prepared:
        """The same project as a run renders it that has to create its tables or finds them never built."""
        return replace(self, invocation=replace(self.invocation, incremental=False), on_log=lambda _log: None)

    @cached_property
    def whole(self) -> Prepared:
        """The same project where models read all rows of their inputs."""
        return self if self.sample is None else replace(self, sample=None)

    def for_batch(self, batch: NodeBatch, *, full_refresh: bool) -> Prepared:
        """Return the same project where a model is rendered for a batch; `full_refresh`: its table is replaced."""
        invocation = replace(self.invocation, full_refresh=full_refresh)
        return replace(self, batch=batch, invocation=invocation, on_log=lambda _log: None)

    def asking_for(
        self, unique_id: str, operation: Operation, on_read: Callable[[str], None], *, first_run: bool = False
    ) -> Prepared:
        """Return the same project where the texts of one node ask the engine, whose statements `operation` executes.

        `on_read` is called with the id of each node that they refer to, before a statement may read it; `first_run`
        says that the table of the node was never built. What the texts log goes to the operation.
        """
        asking = EngineAccess(with_inlined(self.graph, unique_id), operation, on_read, first_run)
        return replace(self, asking=asking, on_log=lambda _log: None)

    @cached_property
    def model_names(self) -> Mapping[str, str]:
        """The names of all models, by the paths of their files."""
        models = (*nodes_of(self.graph.nodes, ModelNode), *self.graph.disabled)
        names = {node.path: node.name for node in models if isinstance(node, ModelNode)}
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
        states_of_tables: Mapping[str, Callable[[], Collection[str]]] | None = None,
        column_reach: ColumnReach | None = None,
    ) -> Selection:
        """Return the selected nodes, parents first, and warnings of what matches nothing.

        `states_of_tables` return what `state:inputs` and `state:older-rows` select. With `column_reach`, what is below
        `state:modified` is selected only where a changed column can reach it.
        """
        if not (select or exclude or selector is not None):
            return Selection(tuple(topological(self.graph)))

        context = SelectionContext(
            self.files.root,
            state,
            self.files.selectors,
            indirect,
            states_of_tables=states_of_tables or {},
            column_reach=column_reach,
        )
        return select_nodes(self.graph, context, select, exclude, selector)

    @property
    def unread_vars(self) -> list[Problem]:
        """A warning for each var of the invocation that is neither declared nor read: a misspelled one."""
        files, graph = self.files, self.graph
        names = {*files.settings.vars, *graph.vars_read}
        hooks = "\n".join((*files.settings.on_run_start, *files.settings.on_run_end))
        return [
            Problem(
                "unread-var",
                f'--vars: no file reads the var "{name}", and [tool.merge-runner.vars] does not declare it',
                hint=did_you_mean(name, names) or "remove it, or declare it in [tool.merge-runner.vars]",
            )
            for name in sorted(files.unnamed_vars - graph.vars_read)
            if name not in hooks
        ]

    @cached_property
    def withheld(self) -> tuple[UnreadPart, ...]:
        """The environment variables that the project reads and does not get, each with its place."""
        env = template_env(self.invocation.env)
        calls = dict.fromkeys((*self.files.env_vars, *chain.from_iterable(self.graph.env_vars_of.values())))
        return tuple(
            UnreadPart(call.place, f'the environment variable "{call.name}" {what}', hint, "withheld-variable")
            for call in calls
            if isinstance(value := env.get(call.name), WithheldValue)
            for what, hint in (_WITHHELD[value],)
        )

    @property
    def not_read(self) -> tuple[UnreadPart, ...]:
        """What of a dbt project is not read, and which environment variables are withheld."""
        return (*self.files.not_read, *self.withheld)

    @property
    def secrets(self) -> frozenset[str]:
        """What no message, log or artifact may show: of the profile, of vars, and of what was asked of the environment.

        It grows while templates are rendered. A value that is also a name of the project, or a part of one, is not
        among them: every path and every id would contain it.
        """
        variables = recorded_reads(self.invocation.env)
        secrets = {*self.files.profile.secrets, *secret_values(dict(variables)), *secret_vars(self.files.vars)}
        values = frozenset(secrets)
        if values not in self._secrets:
            self._secrets[values] = frozenset(value for value in values if redact(self._names, (value,)) == self._names)
        return self._secrets[values]

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


_WITHHELD = {
    SECRET: (
        "is withheld: it is a secret by its name or in its URL, and nothing runs here",
        f"its text is the default, else {PLACEHOLDER}; a run gets the value",
    ),
    NOT_ALLOWED: (f"counts as not set: {ALLOW} does not list it", "name it there where the project may read it"),
}
"""What a note says of a variable that is withheld, and what to know of it."""


def prepare(
    root: Path, flags: Flags, env: Mapping[str, str], on_log: Callable[[Log], None] = lambda _log: None
) -> Prepared:
    """Load the project at `root` and build its graph. Raise ProblemsError with everything that is wrong.

    An `env` that is no RecordingEnv is that of a project of which nothing runs: templates get no secret of it.
    """
    problems = Problems()
    env = env if isinstance(env, RecordingEnv) else RecordingEnv(env)
    invocation = Invocation(env, flags.full_refresh)
    files = _read(root, flags, env, problems, keep=flags.cache)
    try:
        templates = Templates(files.macros, files.packages)
        graph = build_graph(files, templates, invocation, store=_store(files, env) if flags.cache else None)
    except ProblemsError as error:
        others = [problem for problem in error.problems if not _follows(problem, problems)]
        raise ProblemsError(dict.fromkeys([*problems, *others])) from None
    problems.check()
    return Prepared(files, templates, graph, invocation, flags, on_log)


def prepare_to_lint(
    root: Path,
    flags: Flags,
    env: Mapping[str, str],
    texts: Mapping[str, str] | None = None,
    *,
    cache: bool = True,
) -> tuple[Prepared, tuple[Problem, ...]]:
    """Return the project, as complete as it can be without a build, and the problems of its Jinja.

    Models whose Jinja cannot be read are no nodes of the graph. A profile may be missing: then nothing is known of
    where the project runs. `texts`, by path in the project, replace those of files, as an editor has them. With `cache`
    what files captured in earlier runs is taken where they read the same now. Raises ProblemsError with everything else
    that is wrong.
    """
    env = env if isinstance(env, RecordingEnv) else RecordingEnv(env)
    invocation = Invocation(env, flags.full_refresh)
    problems, jinja_problems = Problems(), Problems()
    files = _read(root, flags, env, problems, texts, keep=cache)
    store = _store(files, env) if cache else None
    try:
        templates = Templates(files.macros, files.packages)
        with jinja_problems.collecting():
            templates.check()  # a macro that no model uses yet is as wrong
        graph = build_graph(files, templates, invocation, jinja_problems, store)
    except ProblemsError as error:
        jinja_problems.extend(error.problems)
        raise ProblemsError(dict.fromkeys([*_blocking(problems), *jinja_problems])) from None
    blocking = [*_blocking(problems), *(problem for problem in jinja_problems if problem.code not in JINJA_PROBLEMS)]
    if blocking:
        raise ProblemsError(blocking)
    return Prepared(files, templates, graph, invocation, flags, store=store, reads=Reads(cache)), tuple(jinja_problems)


def _store(files: ProjectFiles, env: Mapping[str, str]) -> Store | None:
    return Store.of_project(files.root, whole_env(env))


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
