"""Where a project runs: one output of a profile in profiles.yml."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from merge_runner.errors import Problems, did_you_mean
from merge_runner.formats import Format
from merge_runner.formats.lines import LINES, Line, installed_line
from merge_runner.project.schema.accepts import NULL, TEXT, Exactly, also, exclusive, matching
from merge_runner.project.schema.config import as_list
from merge_runner.project.schema.notify import Notification
from merge_runner.project.schema.storage import WAREHOUSE, Storage, check_catalog, check_embedded, warehouse_folder
from merge_runner.project.schema.warehouse import Warehouse, keeping_catalog, warehouse
from merge_runner.project.syntax.annotations import CLOSED, After, Before, Limits, StrictBool, StrictInt
from merge_runner.project.syntax.environment import EnvVar, whole_env
from merge_runner.project.syntax.places import KeyPath
from merge_runner.project.syntax.read_text import read_text
from merge_runner.project.syntax.secret_names import secret_values
from merge_runner.project.syntax.validate import validate
from merge_runner.project.syntax.value_template import TemplateNames, ValueTemplate
from merge_runner.project.syntax.yaml_tree import YamlTree, yaml_tree
from merge_runner.project_file import Boundary
from merge_runner.text import Place, SourceText

FILE = "profiles.yml"
_TEMPLATE_NAMES = TemplateNames("a profile", f"only env_var('NAME', 'default') works in {FILE}")
_OF_SPARK = frozenset({"conf", "catalogs", "remote", "openlineage", "notify"})
"""Keys of an output that no name and no text of a project depends on."""
LOCAL = "local[*]"
_MASTER = "spark.master"
EMBEDDED = "embedded"
EMBEDDED_FORMAT: Format = "iceberg"
"""The format of all tables of an embedded catalog."""
"""The `type` of a catalog that merge-runner keeps itself, in the warehouse."""

Platform = Literal["oss", "databricks", "fabric"]
Adapter = Literal["spark", "databricks", "fabricspark"]
Spark = Literal["3.5", "4.0", "4.1", "4.2", "4.3"]
Jvm = Literal["fast-start", "throughput", "custom"]
Jars = Literal["pinned", "provided"]
Texts = Mapping[str, str]


@dataclass(frozen=True)
class Profile:
    """One output of a profile. What may hold a secret is not in its `repr`.

    `target` is the output's name. Either `master` or `remote` (`sc://…`) is set. `warehouse` is a path, relative to
    the project unless absolute, or a URI; None where the cluster knows its own. `storage_join` is what merges into
    Iceberg tables have that do not say it themselves.
    """

    name: str
    target: str
    schema: str
    master: str | None = LOCAL
    remote: str | None = field(default=None, repr=False)
    warehouse: str | None = None
    storage: Storage = field(default_factory=Storage)
    threads: int | Literal["auto"] = "auto"
    conf: Texts = field(default_factory=dict, repr=False)
    catalogs: Mapping[str, Texts] = field(default_factory=dict, repr=False)
    platform: Platform = "oss"
    type: Adapter = "spark"
    spark: Spark | None = None
    """The line of Spark that the output says (`engine`)."""
    audit: str | None = None
    jvm: Jvm | None = None
    jars: Jars = "pinned"
    keep_warm: int = 0
    reuse: Literal["auto", "off"] = "auto"
    connectors: tuple[str, ...] = ()
    """What the project's streams are read by, in addition to the table formats: `kafka`."""
    storage_join: bool = False
    warehouse_assumed: bool = False
    """Whether the warehouse is the default of a local output: neither the output nor its conf says where tables are."""
    openlineage: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Where OpenLineage events go: `transport`, `namespace`, and the settings of the transport."""
    notify: tuple[Notification, ...] = field(default=(), repr=False)
    """Who hears of a run."""
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    """Values that must never be shown: of confs and environment variables whose names say so."""
    env_vars: tuple[EnvVar, ...] = ()
    """The calls of `env_var` in what a graph depends on: all but what Spark alone is given."""

    @property
    def target_values(self) -> dict[str, Any]:
        """What Jinja sees as `target`: no conf and no catalog, which may hold secrets."""
        return {
            "name": self.target,
            "target_name": self.target,
            "profile_name": self.name,
            "schema": self.schema,
            "type": self.type,
            "threads": self.threads,
            "platform": self.platform,
        }

    @property
    def line(self) -> Line:
        """The line of Spark that verdicts are for: that of `engine`, else that of the installed PySpark."""
        return LINES[self.spark] if self.spark is not None else installed_line()

    @property
    def is_local(self) -> bool:
        """Whether the driver is the executor too: a `local…` master."""
        return (self.master or "").startswith("local")

    @property
    def iceberg_catalogs(self) -> tuple[str, ...]:
        """Names of the catalogs that are Iceberg's: all whose `class` does not say otherwise."""
        return tuple(name for name, settings in self.catalogs.items() if "iceberg" in settings.get("class", "iceberg"))

    @property
    def embedded_catalogs(self) -> tuple[str, ...]:
        """Names of the Iceberg catalogs in the warehouse."""
        return tuple(name for name, settings in self.catalogs.items() if settings.get("type") == EMBEDDED)

    @property
    def where(self) -> str:
        """The Spark that is meant, as it may be shown: the master, or the server's address without its secrets."""
        return self.master or re.sub(r"//[^/]*@", "//", (self.remote or "").split(";")[0]).rstrip("/")


def read_profile(
    root: Path,
    name: str,
    problems: Problems,
    *,
    env: Mapping[str, str],
    target: str | None = None,
    profiles_dir: Path | None = None,
    name_place: Place | None = None,
    text: str | None = None,
) -> Profile | None:
    """The profile `name` with its output `target` (default: the one it names); None, with problems, where that fails.

    profiles.yml is looked for in `profiles_dir` alone where that is given, else in `root` and in ~/.merge-runner.
    `name_place` is where the project names the profile, `text` is read instead of the file in `root`. Only the chosen
    output is rendered.
    """
    folders = [profiles_dir] if profiles_dir else [root, _home(env) / ".merge-runner"]
    file = next((folder / FILE for folder in folders if os.path.lexists(folder / FILE)), None)
    if file is None:
        searched_folders = " and ".join(str(folder) for folder in folders)
        hint = f'write a {FILE} with the profile "{name}", or say where it is with --profiles-dir'
        problems.add("no-profiles", f"no {FILE} was found in {searched_folders}", name_place, hint)
        return None
    unsaved = text if file == root / FILE else None
    display_path = _display_path(file, root)
    boundary = Boundary(root).of_named(file)
    source = (
        SourceText(display_path, unsaved) if unsaved is not None else read_text(file, display_path, problems, boundary)
    )
    tree = yaml_tree(source, problems) if source else None
    if tree is None:
        return None
    if not isinstance(tree.data, Mapping) or name not in tree.data:
        profile_names = list(tree.data) if isinstance(tree.data, Mapping) else []
        message = f'the profile "{name}" is not in {tree.source.path}'
        problems.add("unknown-profile", message, name_place or tree.place(), did_you_mean(name, profile_names))
        return None
    return _read_output(tree, root, name, target, env, problems)


def _read_output(
    tree: YamlTree, root: Path, name: str, target: str | None, env: Mapping[str, str], problems: Problems
) -> Profile | None:
    outer = validate(ProfileEntry, tree.data[name], tree, problems, at=(name,), of=f"profile {name}", secret=True)
    if outer is None:
        return None
    template = ValueTemplate(tree, _TEMPLATE_NAMES, env, problems)
    before = len(problems)
    place = tree.place((name, "outputs") if target or not outer.target else (name, "target"))
    target = target or _default_target(name, outer, template)
    if len(problems) > before:
        return None
    if target not in outer.outputs:
        message = f'the profile "{name}" has no output "{target}"'
        problems.add("unknown-target", message, place, did_you_mean(target, outer.outputs))
        return None
    at = (name, "outputs", target)
    data = template.render(outer.outputs[target], at)
    if len(problems) > before:
        return None
    output = validate(Output, data, template, problems, at=at, of=f"output {name}.{target}", secret=True)
    if output is None:
        return None
    table_warehouse = _warehouse(output, root, _Faults(f"output {name}.{target}", at, tree, problems))
    env_calls = [
        call for key in outer.outputs[target] if key not in _OF_SPARK for call in template.calls((*at, str(key)))
    ]
    profile = _profile(name, target, output, table_warehouse, template.used)
    return replace(profile, env_vars=(*template.calls((name, "target")), *env_calls))


@dataclass(frozen=True)
class _Faults:
    """Reports what is wrong with the confs of an output, each at its key."""

    of: str
    at: KeyPath
    tree: YamlTree
    problems: Problems

    def add(self, key: str, message: str, hint: str) -> None:
        place = self.tree.key_place((*self.at, "conf", key))
        self.problems.add("invalid-value", f"{self.of}: {message}", place, hint)


def _warehouse(output: Output, root: Path, faults: _Faults) -> Warehouse:
    """Where the tables of an output are. What its conf says otherwise than its own keys is a problem."""
    if output.remote is not None:
        return Warehouse(output.warehouse)
    master = output.master or LOCAL
    if (master_of_conf := output.conf.get(_MASTER, master)) != master:
        faults.add(
            _MASTER,
            f"{_MASTER} is {master_of_conf}, and the output runs on {master}",
            f"write `master: {master_of_conf}` instead",
        )
    before = len(faults.problems)
    table_warehouse = warehouse(output.warehouse, output.conf, root, faults.add, local=master.startswith("local"))
    embedded = [name for name, settings in output.catalogs.items() if settings.get("type") == EMBEDDED]
    if table_warehouse.folder is None and embedded and len(faults.problems) == before:
        key = str(keeping_catalog(output.conf))
        message = f'catalog "{embedded[0]}" of type embedded lies in the warehouse, and {key} says that there is none'
        faults.add(key, message, "leave it out, or give the catalog another type")
    return table_warehouse


def _default_target(name: str, outer: ProfileEntry, template: ValueTemplate) -> str:
    """The output that the profile names; as in dbt "default" where it names none, or the only one there is."""
    if outer.target:
        at: KeyPath = (name, "target")
        template.render(outer.target, at)
        return template.text(at) or outer.target
    return next(iter(outer.outputs)) if len(outer.outputs) == 1 else "default"


def _profile(name: str, target: str, output: Output, table_warehouse: Warehouse, used: Mapping[str, str]) -> Profile:
    master = output.master or (None if output.remote else LOCAL)
    return Profile(
        name=name,
        target=target,
        schema=output.schema,
        master=master,
        remote=output.remote,
        warehouse=table_warehouse.folder,
        storage=output.storage,
        warehouse_assumed=table_warehouse.is_assumed,
        threads=output.threads,
        conf=output.conf,
        catalogs=output.catalogs,
        platform=output.platform,
        type=output.type,
        spark=output.engine.spark,
        audit=output.audit,
        jvm=output.jvm,
        jars=output.jars,
        keep_warm=output.keep_warm,
        reuse=output.reuse,
        storage_join=output.storage_join,
        openlineage=output.openlineage,
        notify=output.notify,
        secrets=frozenset(value for value in _secrets(output, used) if value),
    )


def _secrets(output: Output, used: Mapping[str, str]) -> Iterator[str]:
    openlineage = dict(_texts(output.openlineage))
    for texts in (used, output.conf, *output.catalogs.values(), openlineage, {"remote": output.remote}):
        yield from secret_values(texts)
    for notification in output.notify:
        if notification.url is not None and "://" in notification.url:  # else it stands for a variable
            yield notification.url  # who knows that of Slack or Teams can post there


def _texts(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts of nested settings, each with its own key."""
    for key, value in values.items():
        if isinstance(value, Mapping):
            yield from _texts(value)
        elif isinstance(value, str):
            yield key, value


def _off(value: Any) -> Any:
    return "off" if value is False else value  # as YAML 1.1 reads it


def _home(env: Mapping[str, str]) -> Path:
    whole = whole_env(env)
    home = whole.get("HOME") or whole.get("USERPROFILE")
    return Path(home) if home else Path.home()


def _display_path(file: Path, root: Path) -> str:
    """The name of a file in places: relative to the project where it lies in it."""
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)


_MASTER_URL = r"^(?:local\b|yarn(?![\s\S])|(?:spark|k8s)://.)"


def _master(value: str) -> str:
    if not re.match(_MASTER_URL, value):
        raise ValueError("local[*], yarn, spark://… or k8s://…")
    return value


_SCHEMA = r"^[^.]+(?:\.[^.]+)?(?![\s\S])"


def _schema(value: str) -> str:
    if not re.match(_SCHEMA, value):
        raise ValueError("a schema, or a catalog and a schema (lake.shop): neither may have a dot in its name")
    return value


def _remote(value: str) -> str:
    if value != "databricks" and not value.startswith("sc://"):
        raise ValueError("the address of a Spark Connect server, sc://…, or databricks")
    return value


def _or_empty(value: Any) -> Any:
    return {} if value is None else value


_Conf = Annotated[Mapping[str, str], Before(_or_empty), also(NULL)]


@dataclass(frozen=True)
class ProfileEntry:
    """A profile as it is written; its outputs are looked into one at a time."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    outputs: Mapping[str, Mapping[str, Any]]
    """The places where the project can run, by name (`--target` chooses one). The keys of an output are below. Only the
    chosen output is rendered.
    Example: `outputs: {local: {schema: shop}, prod: {schema: shop, master: yarn}}`"""
    target: str | None = None
    """The output that is used without `--target`. Default: the only output, else the one named `default`.
    Example: `target: local`"""


_TABLE_NAME = {**TEXT, "pattern": r"^[^\s./]+(?:\.[^\s./]+){0,2}$"}


def _table(value: str) -> str:
    if not re.match(r"[\w-]+(?:\.[\w-]+){0,2}\Z", value):
        raise ValueError("the name of a table: schema.table, or catalog.schema.table")
    return value


@dataclass(frozen=True)
class Engine:
    """The engine of an output, where it is not what is installed."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED

    spark: Spark | None = None
    """The minor version of Spark that the models run on: what a MERGE skips depends on it, and lint judges for it.
    Default: that of the installed PySpark, else 4.1.
    Example: `spark: "3.5"`"""


@dataclass(frozen=True)
class Output:
    """An output as it is written, rendered."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = CLOSED
    ACCEPTS: ClassVar[Mapping[str, Any]] = exclusive("master", "remote")

    schema: Annotated[str, Limits(min_length=1), After(_schema), Exactly({**TEXT, "pattern": _SCHEMA})]
    """The default schema (namespace) of tables and views. May name a catalog: `ice.shop`. Example: `schema: shop`"""
    master: Annotated[str, After(_master), matching(_MASTER_URL)] | None = None
    """The Spark master: `local[*]`, `local[N]`, `spark://…`, `yarn` or `k8s://…`. Default: `local[*]`, unless `remote`
    is set.
    Example: `master: "local[4]"`"""
    remote: Annotated[str, After(_remote), matching("^(sc://|databricks$)")] | None = None
    """The address of a Spark Connect server, which then runs all statements; `databricks`: the compute that Databricks
    Connect is set up for. Excludes `master`.
    Example: `remote: "sc://spark.example.com:15002/;token={{ env_var('SPARK_TOKEN') }}"`"""
    warehouse: Annotated[str, After(warehouse_folder), Exactly({**TEXT, "pattern": WAREHOUSE})] | None = None
    """The folder of the embedded warehouse, relative to the project: a table is the folder
    `<warehouse>/<schema>/<table>`, without a metastore. It may be in an object store (`s3a://bucket/path`, `abfss://…`,
    `gs://…`) or on HDFS. Default: `warehouse` for a local master whose `conf` names no catalog; else tables are in the
    catalog of `conf` and `catalogs`.
    Example: `warehouse: warehouse`"""
    storage: Storage = field(default_factory=Storage)
    """How the object store of `s3a://` is reached, where it is not Amazon's in the region of the environment. Keys come
    from the environment (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, …).
    Example: `storage: {endpoint: "http://minio:9000", path_style: true}`"""
    threads: Literal["auto"] | Annotated[StrictInt, Limits(ge=1)] = "auto"
    """How many nodes run at the same time. `auto` is min(nodes, max(2, cores // 2)). Example: `threads: 8`"""
    conf: _Conf = field(default_factory=dict)
    """Spark configuration of the driver and of every session. Example: `conf: {spark.driver.memory: 4g}`"""
    catalogs: Annotated[Mapping[str, _Conf], Before(_or_empty), also(NULL)] = field(default_factory=dict)
    """Catalogs by name, each with the settings of `spark.sql.catalog.<name>.<key>`. `type: embedded` is an Iceberg
    catalog without a server: a SQLite file in the warehouse. Without a `class` a catalog is Iceberg's.
    Example: `catalogs: {ice: {type: embedded}, lake: {type: rest, uri: "https://catalog.example.com"}}`"""
    platform: Platform = "oss"
    """Where the models run in production, which decides which table properties, settings and clauses lint accepts and
    what `low_shuffle` and `concurrent` set: `oss` is open-source Spark, Delta and Iceberg; `fabric` includes
    Synapse.
    Example: `platform: databricks`"""
    type: Adapter = "spark"
    """The dbt adapter that models and macros are written for: what `target.type` and `adapter.type()` are, and the
    prefix of the macros that `adapter.dispatch` looks for before those of `spark__`. `import dbt` writes it.
    Example: `type: databricks`"""
    engine: Engine = Engine()
    """The Spark that the models run on, where it is not the installed one.
    Example: `engine: {spark: "3.5"}`"""
    audit: Annotated[str, After(_table), Exactly(_TABLE_NAME)] | None = None
    """The audit table: one row for each model and invocation, with the figures of its MERGE. It is created where it is
    missing.
    Example: `audit: ops.runs`"""
    jvm: Jvm | None = None
    """The JVM options of the driver: `fast-start` for short runs (the default of a local master), `throughput` for
    large inputs (the default of other masters), `custom` for none.
    Example: `jvm: throughput`"""
    jars: Jars = "pinned"
    """Where the jars of Delta, Iceberg and the Kafka connector come from: `pinned` fetches those that merge-runner is
    tested with, `provided` fetches and adds nothing, since Spark has them already. Their versions are read and checked
    before Spark starts.
    Example: `jars: provided`"""
    keep_warm: Annotated[StrictInt, Limits(ge=0)] = 0
    """How many minutes the driver stays after a command, so that the next one need not start Spark (a warm driver). 0:
    it ends with the command. Has no effect with `remote`, and none in CI.
    Example: `keep_warm: 15`"""
    reuse: Annotated[Literal["auto", "off"], Before(_off), also({"const": False})] = "auto"
    """Whether builds leave out nodes of which nothing that they read has changed. `off`: each build runs all, as with
    `--no-reuse`.
    Example: `reuse: off`"""
    storage_join: StrictBool = False
    """Use storage-partitioned joins for all merges into Iceberg tables whose model does not set `storage_join` itself.
    Example: `storage_join: true`"""
    openlineage: Annotated[Mapping[str, Any], Before(_or_empty), also(NULL)] = field(default_factory=dict)
    """Emit OpenLineage events while nodes run. `transport: file` appends JSON lines to `path` (default:
    `target/openlineage.jsonl`); any other transport (`http`, `kafka`, `console`, …) is one of the client, which
    `merge-runner[openlineage]` installs, with its settings next to it. `namespace` is that of the jobs (default:
    `merge-runner`). Without this key the variables of OpenLineage count (`OPENLINEAGE_URL`, …).
    Example: `openlineage: {transport: http, url: "http://localhost:5000", namespace: shop}`"""
    notify: Annotated[tuple[Notification, ...], Before(as_list), also(NULL)] = ()
    """Who hears of a run of nodes: webhooks and commands, with the keys below. See [Hear of a
    failure](../guides/notifications.md).
    Example: `notify: [{command: [python, ops/page.py]}]`"""

    def __post_init__(self) -> None:
        if self.master and self.remote:
            raise ValueError('"master" and "remote" exclude each other: keep one of them')
        if self.openlineage and not isinstance(self.openlineage.get("transport"), str):
            raise ValueError('"openlineage" needs a transport: file, http, kafka, console, …')
        for name, settings in self.catalogs.items():
            check_catalog(name, settings)
            if settings.get("type") == EMBEDDED:
                local = self.master is None or self.master.startswith("local")
                check_embedded(
                    name, settings, self.warehouse, has_warehouse=not self.remote and bool(self.warehouse or local)
                )
