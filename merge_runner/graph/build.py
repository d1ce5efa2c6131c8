"""Makes the graph of a project: what every file refers to, resolved to nodes, with relations and config."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.graph.analysis_nodes import analysis_node
from merge_runner.graph.capture_cache import CaptureCache
from merge_runner.graph.captures import capture_all_runs
from merge_runner.graph.change_feeds import with_feeds
from merge_runner.graph.config_checks import (
    check_batches,
    check_contract,
    check_iceberg_keys,
    is_enforced,
    no_effect,
    refuse_contract,
)
from merge_runner.graph.config_presets import implied
from merge_runner.graph.cycles import dag_of
from merge_runner.graph.exposure_nodes import exposure_node
from merge_runner.graph.graph import DataTestNode, Graph, Macro, ModelNode, Node, SeedNode
from merge_runner.graph.hooks import captured_in_hooks
from merge_runner.graph.invocation import Invocation
from merge_runner.graph.naming import Naming, no_folder
from merge_runner.graph.references import References, check_access, check_groups
from merge_runner.graph.source_node import checksum, columns_as_json, source_node
from merge_runner.graph.streams import check_streams
from merge_runner.graph.test_nodes import (
    generic_test_node,
    own_test_names,
    singular_test_node,
    test_arguments,
    unit_test_node,
)
from merge_runner.graph.writers import check_tables
from merge_runner.merge.find import holds_merge
from merge_runner.project.load.files import ModelFile, ProjectFiles, SeedFile
from merge_runner.project.schema.config import ModelConfig
from merge_runner.project.schema.config_layers import resolve
from merge_runner.project.syntax.environment import EnvVar
from merge_runner.project_file import Boundary, read_file
from merge_runner.relation import Relation
from merge_runner.store import Store
from merge_runner.template.capture import Capture, Ref
from merge_runner.template.context import Context, model_values
from merge_runner.template.relation_column import RelationColumn
from merge_runner.template.static.macro_definitions import test_macro
from merge_runner.text import Place, PlacedText, SourceText

if TYPE_CHECKING:
    from merge_runner.template.templates import Templates

_ANY_COLUMNS = (RelationColumn("a_column", "string"),)
"""What a macro gets that asks for the columns of a table while its refs are read: of its text nothing else counts."""

_ANY_BATCH = {"start": "timestamp'2000-01-01'", "end": "timestamp'2000-01-02'", "id": "20000101"}
"""What a text gets as `batch` while its refs are read, whether or not it has batches."""


def build_graph(
    files: ProjectFiles,
    templates: Templates,
    invocation: Invocation,
    problems: Problems | None = None,
    store: Store | None = None,
) -> Graph:
    """The DAG of all enabled nodes. `store` has what files captured in earlier runs, and gets what they capture now.

    Raises ProblemsError with everything that is wrong: config, Jinja that cannot be read, refs and sources that do not
    exist or are disabled, a cycle (as a path). With `problems` these are added to it instead: what could not be read
    is no node then, and of the rest only a cycle is raised.
    """
    builder = Builder(files, templates, invocation, store)
    graph = builder.build()
    builder.captures.write(len(files.models) + len(files.singular_tests))
    if problems is None:
        builder.problems.check()
        return graph
    problems.extend(builder.problems)
    return graph


class Builder:
    """Makes the nodes of one project; `problems` gets what is wrong with them."""

    def __init__(self, files: ProjectFiles, templates: Templates, invocation: Invocation, store: Store | None) -> None:
        self.files = files
        self.templates = templates
        self.captures = CaptureCache(templates, store)
        self.invocation = invocation
        self.project = files.settings.name
        self.target = files.profile.target_values
        self.naming = Naming(files.profile, templates)
        self._boundary = Boundary(files.root)
        self.problems = Problems()
        self.nodes: dict[str, Node] = {}
        self.disabled: list[Node] = []
        self.refs: dict[str, str] = {}
        """Names that `ref` knows, and their node ids."""
        self.references = References(files, self.refs, self.problems)
        self.changes: dict[str, tuple[Ref, ...]] = {}
        """The calls of `changes` in each model and singular test."""
        self.refs_of: dict[str, tuple[Ref, ...]] = {}
        """The references of each model, with their places."""
        self.warnings: dict[str, tuple[Problem, ...]] = {}
        self.vars_of: dict[str, frozenset[str]] = {}
        self.env_vars_of: dict[str, tuple[EnvVar, ...]] = {}

    def build(self) -> Graph:
        captured = self._capture({name: model.source for name, model in self.files.models.items()})
        configs = self._configs(self.files.models, captured)
        seeds = {name: resolve(seed.layers, self.problems, f"seed {name}") for name, seed in self.files.seeds.items()}
        tests = self._capture({source.path: source for source in self.files.singular_tests})
        self._name_refs({**configs, **seeds})
        for key, entry in self.files.sources.items():
            table = source_node(self.project, key, entry)
            self._warn(table, key)
            self._add(table)
        for name, seed in self.files.seeds.items():
            seed_node = self._seed(name, seed, seeds[name])
            self._warn(seed_node, (name,))
            self._add(seed_node, seeds[name].enabled)
        self._add_models(captured, configs)
        check_tables(self.nodes, self.problems)
        check_streams(self.nodes, self.problems)
        check_groups(self.nodes.values(), self.files.groups, self.problems)
        check_access(self.nodes, self.refs_of, self.refs, self.problems)
        self._add_tests(tests)
        for exposure in self.files.exposures:
            node = exposure_node(self.project, exposure, self.references)
            self._add(node, exposure.exposure.config.enabled)
        self._add_analyses()
        self.nodes = with_feeds(self.nodes, self.changes, self.refs, self.problems)
        dag = dag_of(self.nodes, self.problems)
        unread = frozenset(self.files.models.keys() - captured.keys())
        return Graph(
            project=self.project,
            nodes=self.nodes,
            dag=dag,
            macros=self._macros(),
            disabled=tuple(self.disabled),
            unread=unread,
            warnings=self.warnings,
            vars_of=self.vars_of,
            env_vars_of=self.env_vars_of,
        )

    def _add_models(self, captured: Mapping[str, Capture], configs: Mapping[str, ModelConfig]) -> None:
        for name, capture in captured.items():
            model, config = self.files.models[name], configs[name]
            of_all = self._with_hooks(model, capture, config)
            node = self._model(name, model, of_all, config)
            self.changes[node.unique_id] = of_all.changes
            self.refs_of[node.unique_id] = of_all.refs
            self._warn(node, (name,), no_effect(model.source, node.materialized, [*model.own_layers, of_all.config]))
            self._add(node, config.enabled)

    def _warn(self, node: Node, on: tuple[str, ...], warnings_of_node: Iterable[Problem] = ()) -> None:
        """Keep the warnings about a node: those in `warnings_of_node`, and those about its YAML under the key `on`."""
        if warnings := (*warnings_of_node, *self.files.warnings.get(on, ())):
            self.warnings[node.unique_id] = warnings

    def _add(self, node: Node | None, enabled: bool = True) -> None:
        if node is None:
            return
        if enabled:
            self.nodes[node.unique_id] = node
        else:
            self.disabled.append(node)

    def _context(self, name: str) -> Context:
        """Names are placeholders: what a file refers to is read before any relation is known."""
        return Context(
            model_name=name,
            this=Relation(name),
            resolve_ref=Relation,
            resolve_source=lambda source, table: Relation(table, source),
            vars=self.files.vars,
            env=self.invocation.env,
            target=self.target,
            full_refresh=self.invocation.full_refresh,
            config=self.files.described_config(name),
            model=self._model_values(name),
            columns=lambda _: _ANY_COLUMNS,
            batch=_ANY_BATCH,
        )

    def _model_values(self, name: str) -> Mapping[str, Any]:
        """What templates know as `model`, and macros of names as `node`; nothing of a test."""
        if (model := self.files.models.get(name)) is not None:
            return model_values("model", (self.project, *model.folder, name), model.source.path)
        if (seed := self.files.seeds.get(name)) is not None:
            return model_values("seed", (self.project, *seed.folder, name), seed.place.path)
        return {"package_name": self.project}

    def _capture(self, sources: Mapping[str, SourceText]) -> dict[str, Capture]:
        """Return what each file refers to, where its Jinja can be read."""
        captures: dict[str, Capture] = {}
        for name, source in sources.items():
            with self.problems.collecting():
                captures[name] = self.captures.capture(source, self._context(name))
                self._note_reads(source.path, captures[name])
        return captures

    def _note_reads(self, path: str, captured: Capture) -> None:
        """Record which vars and environment variables a file has asked for."""
        if captured.vars:
            self.vars_of[path] = self.vars_of.get(path, frozenset()) | captured.vars
        if captured.env_vars:
            self.env_vars_of[path] = tuple(dict.fromkeys((*self.env_vars_of.get(path, ()), *captured.env_vars)))

    def _configs(self, names: Iterable[str], captured: Mapping[str, Capture]) -> dict[str, ModelConfig]:
        return {name: self.config(name, captured.get(name)) for name in names}

    def config(self, name: str, captured: Capture | None) -> ModelConfig:
        """Return the config of a model; `captured` None: its text could not be read."""
        own = [captured.config] if captured is not None else []
        return resolve([*self.files.models[name].layers, *own], self.problems, f"model {name}")

    def _name_refs(self, configs: Mapping[str, ModelConfig]) -> None:
        for kind, names in (("model", self.files.models), ("seed", self.files.seeds)):
            for name in names:
                if configs[name].enabled:
                    self.refs[name] = f"{kind}.{self.project}.{name}"

    def _seed(self, name: str, seed: SeedFile, config: ModelConfig) -> SeedNode:
        check_iceberg_keys(name, config, seed.layers, seed.place, self.problems)
        if is_enforced(config):
            refuse_contract(seed, self.problems)
        return SeedNode(
            unique_id=f"seed.{self.project}.{name}",
            name=name,
            path=seed.place.path,
            fqn=(self.project, *seed.folder, name),
            place=seed.place,
            relation=self._relation(name, config, seed.place),
            config=config,
            tags=config.tags,
            checksum=hashlib.sha256(read_file(seed.path, self._boundary)).hexdigest(),
            description=(seed.properties.description or "") if seed.properties else "",
            columns=columns_as_json(seed.properties.columns if seed.properties else ()),
            meta=config.meta,
            macros=self._macro_ids(self.naming.macros),
            patch_path=seed.properties_place.path if seed.properties_place else None,
        )

    def _model(self, name: str, model: ModelFile, captured: Capture, config: ModelConfig) -> ModelNode:
        if config.materialized is None:
            config = replace(config, materialized="merge" if self._holds_merge(model, captured) else "view")
        place = Place(model.source.path, 1, 1)
        for preset in implied(config, self.files.profile):
            confs = {**preset.conf, **config.conf}
            config = replace(config, properties={**preset.properties, **config.properties}, conf=confs)
        check_iceberg_keys(name, config, [*model.layers, captured.config], place, self.problems)
        check_batches(name, config, [*model.layers, captured.config], place, self.problems)
        properties = model.properties
        if is_enforced(config):
            check_contract(model, config, [*model.layers, captured.config], place, self.problems)
        # What a disabled model refers to may be disabled with it, or gone: as in dbt that is no mistake.
        references = self.references if config.enabled else replace(self.references, problems=Problems())
        return ModelNode(
            unique_id=f"model.{self.project}.{name}",
            name=name,
            path=model.source.path,
            fqn=(self.project, *model.folder, name),
            place=place,
            relation=self._relation(name, config, place),
            config=config,
            tags=config.tags,
            depends_on=references.parents(captured),
            checksum=checksum(model.source.text),
            description=(properties.description or "") if properties else "",
            columns=columns_as_json(properties.columns if properties else ()),
            meta=config.meta,
            raw_code=model.source.text,
            macros=self._macro_ids(captured.macros | self.naming.macros),
            patch_path=model.properties_place.path if model.properties_place else None,
            constraints=tuple(asdict(constraint) for constraint in properties.constraints) if properties else (),
            unrendered_config=dict(captured.config.values),
            differs_by_run=self.templates.differs_by_run(
                "\n".join((model.source.text, *config.pre_hook, *config.post_hook)), captured.macros
            ),
        )

    def _with_hooks(self, model: ModelFile, captured: Capture, config: ModelConfig) -> Capture:
        """What the file and its hooks refer to: a hook that reads a model waits for it."""
        layers = [*model.layers, captured.config]

        def capture(source: SourceText) -> Capture:
            return capture_all_runs(self.templates, source, self._context(model.name))

        for hook in captured_in_hooks(model.source.path, layers, config, capture, self.problems):
            self._note_reads(model.source.path, hook)
            for call in hook.changes:
                message = f"a hook of {model.name} calls changes(): only its MERGE commits what was consumed"
                self.problems.add("changes-refused", message, call.place, "call it in the MERGE itself")
            captured = replace(
                captured,
                refs=(*captured.refs, *hook.refs),
                sources=(*captured.sources, *hook.sources),
                macros=captured.macros | hook.macros,
            )
        return captured

    def _holds_merge(self, model: ModelFile, captured: Capture) -> bool:
        if holds_merge(model.source.text):
            return True
        if not captured.macros:
            return False
        # A macro may have written the MERGE.
        with self.problems.collecting():
            return self.captures.renders_merge(model.source, self._context(model.name))
        return False

    def _relation(self, name: str, config: ModelConfig, place: Place) -> Relation | None:
        try:
            relation = self.naming.relation(name, config, self._context(name))
        except ProblemsError as error:
            self.problems.extend(replace(problem, place=problem.place or place) for problem in error.problems)
            return None
        if (part := no_folder(relation)) is not None:
            message = f"{name} is the table {relation.name!r}, and {part!r} cannot be the name of a folder"
            self.problems.add("invalid-name", message, place, "an alias or schema has no / and no \\ in it")
        return relation

    def _macro_ids(self, macros: Iterable[str]) -> tuple[str, ...]:
        return tuple(self._macro_id(name) for name in sorted(macros))

    def _macro_id(self, name: str) -> str:
        """Return the id of a macro; one of a package has a dotted name."""
        return f"macro.{name}" if "." in name else f"macro.{self.project}.{name}"

    def _add_tests(self, singular: Mapping[str, Capture]) -> None:
        for source in self.files.singular_tests:
            if source.path in singular:
                captured = singular[source.path]
                node = singular_test_node(
                    self.project,
                    source,
                    captured,
                    self.references.parents(captured),
                    self._macro_ids(captured.macros),
                    self.problems,
                )
                self.changes[node.unique_id] = captured.changes
                self._add(node, node.config.enabled)
        own_tests = own_test_names(self.templates.macros(), self.templates.packages, self.problems)
        for entry in (entry for entries in self.files.data_tests.values() for entry in entries):
            owner = self._owner(entry.on)
            if broken := self.templates.broken_test(entry.test.name.rpartition(".")[2]):
                self.problems.extend(broken)
            elif owner is not None:
                tested = self.nodes[owner]
                attached = generic_test_node(
                    self.project, entry, tested, own_tests, self.references.resolve, self.problems
                )
                if attached is not None and attached.generic_test and attached.generic_test.name in own_tests:
                    attached = self._with_own_test(attached)
                self._add(attached, entry.test.enabled)
        for unit in self.files.unit_tests:
            model = self.refs.get(unit.test.model)
            if model is not None and model in self.nodes:
                self._add(unit_test_node(self.project, unit, model), unit.test.config.enabled)

    def _add_analyses(self) -> None:
        captured = self._capture({file.source.path: file.source for file in self.files.analyses})
        for file in self.files.analyses:
            if (capture := captured.get(file.source.path)) is not None:
                parents, macros = self.references.parents(capture), self._macro_ids(capture.macros)
                node = analysis_node(self.project, file, capture, parents, macros, self.problems)
                for call in capture.changes:
                    message = f"{node.name} calls changes(): only a MERGE commits what was consumed"
                    self.problems.add("changes-refused", message, call.place, "read the table by ref()")
                self._add(node, node.config.enabled)

    def _with_own_test(self, node: DataTestNode) -> DataTestNode | None:
        """The node of a test of the project with what its macro refers to; None where that cannot be rendered."""
        test = node.generic_test
        assert test is not None
        relations = {
            key: self.nodes[value].relation
            for key, value in test.kwargs.items()
            if isinstance(value, str) and value in self.nodes
        }
        caller = PlacedText(f"{node.path} ({node.name})", "", node.place)
        arguments = test_arguments(
            test, Relation(self.nodes[str(test.attached_node)].name), {**test.kwargs, **relations}
        )
        with self.problems.collecting():
            captured = self.templates.capture_test(test.name, self._context(node.name), caller, arguments)
            self._note_reads(node.path, captured)
            for key, place in captured.config.places.items():
                message = f'"{key}" is set in a data test, whose config is that of the YAML'
                self.problems.add("unknown-key", message, place, f"write {key} where the test is used")
            return replace(
                node,
                depends_on=tuple(dict.fromkeys((*node.depends_on, *self.references.parents(captured)))),
                macros=self._macro_ids({test_macro(test.name), *captured.macros}),
            )
        return None

    def _owner(self, on: tuple[str, ...]) -> str | None:
        """The node that a data test is attached to; None where it is disabled or itself a problem."""
        owner = self.refs.get(on[0]) if len(on) == 1 else f"source.{self.project}.{on[0]}.{on[1]}"
        return owner if owner in self.nodes else None

    def _macros(self) -> dict[str, Macro]:
        """The project's macros, and those of packages that a node calls."""
        definitions = {self._macro_id(definition.name): definition for definition in self.templates.macros()}
        called_ids = {key for node in (*self.nodes.values(), *self.disabled) for key in node.macros}
        for key in sorted(called_ids - definitions.keys()):
            if (packaged := self.templates.packages.find(key.removeprefix("macro."))) is not None:
                definitions[key] = packaged.definition
        return {
            key: Macro(key, definition.name, definition.place.path, definition.text)
            for key, definition in definitions.items()
        }
