"""The names of tables, views and files in OpenLineage: where the rows are, and the name of the table as a symlink.

The rules are those of the specification's Naming.md as openlineage-spark 1.54 applies them (PathUtils, IcebergHandler),
so that both name the same dataset: a path without a slash at its end, `s3` for `s3a`, a metastore's name next to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from merge_runner.graph.graph import Node, SourceNode, run_config
from merge_runner.graph.naming import table_location
from merge_runner.plan.nodes.streams import streamed_table
from merge_runner.project.schema.profile import Profile
from merge_runner.relation import Relation

_FILE = "file"
_SCHEMES = {"s3a": "s3", "s3n": "s3", "abfs": "abfss", "wasb": "wasbs"}
_METASTORE = ("spark.hadoop.hive.metastore.uris", "spark.hive.metastore.uris", "hive.metastore.uris")
_JDBC = "jdbc:"
_PORTS = {"postgres": 5432, "mysql": 3306}
_DATABASES = {"postgresql": "postgres", "mariadb": "mysql"}
_GLOB = re.compile(r"[*?\[{]")


@dataclass(frozen=True)
class Dataset:
    """A dataset by its namespace and name; `symlinks` are other such pairs under which it is known."""

    namespace: str
    name: str
    symlinks: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Datasets:
    """Names the datasets of a project: the folder of the project, and where it runs."""

    root: Path
    profile: Profile

    def of_node(self, node: Node) -> tuple[Dataset, ...]:
        """Return the dataset of a model, seed or source; of a stream one for each topic.

        There is none for what stores nothing (an ephemeral model, a test), and where a stream does not say what it
        reads.
        """
        if isinstance(node, SourceNode):
            return self._of_source(node)
        if node.relation is None or node.materialized == "ephemeral":
            return ()
        return (self.of_table(node.relation, run_config(node).format),)

    def _of_source(self, node: SourceNode) -> tuple[Dataset, ...]:
        stream, relation, format = node.config.stream, node.relation, node.config.format
        path = node.config.path
        if stream is not None:
            path, relation, format = stream.path, streamed_table(node), stream.format or format
            if format == "kafka":
                return tuple(_topics(stream.options))
        if path is not None:
            return (self.at(path),)
        return (self.of_table(relation, format),) if relation is not None else ()

    def of_table(self, relation: Relation, format: str | None) -> Dataset:
        """Return the dataset of a table or view: a folder of the embedded warehouse, or what a catalog keeps."""
        name = f"{relation.schema or 'default'}.{relation.identifier}"
        catalog, profile = relation.catalog, self.profile
        if table_location(self.root, profile, relation, format) is not None:
            return self._below(str(profile.warehouse), relation, name)
        if catalog is not None and catalog in profile.embedded_catalogs:
            return self._below(f"{profile.warehouse}/{catalog}", relation, name)  # where Iceberg creates it
        settings = profile.catalogs.get(catalog, {}) if catalog is not None else {}
        if settings.get("type") == "hadoop" and "warehouse" in settings:
            return self._below(settings["warehouse"], relation, name)
        return _in_catalog(profile, catalog, name)

    def _below(self, folder: str, relation: Relation, name: str) -> Dataset:
        """Name a table by its folder in a warehouse; its name in the warehouse is the symlink."""
        warehouse = self._place(folder)
        dataset = self._place("/".join((folder.rstrip("/"), relation.schema or "default", relation.identifier)))
        between = ":" if warehouse.namespace == _FILE else "/"
        name_of = warehouse.name if warehouse.namespace == _FILE else warehouse.name.lstrip("/")
        return replace(dataset, symlinks=((f"{warehouse.namespace}{between}{name_of}", name),))

    def at(self, path: str) -> Dataset:
        """Return the dataset of files: of a path in the project, an absolute one or a URL, of a pattern its folder."""
        return self._place(_without_glob(path))

    def _place(self, path: str) -> Dataset:
        url = urlsplit(path)
        if "://" in path and url.scheme != _FILE:
            name = url.path.strip("/") or "/"
            scheme = _SCHEMES.get(url.scheme, url.scheme)
            # HDFS and the local disk have paths from the root, object stores have keys.
            return Dataset(f"{scheme}://{url.netloc}", f"/{name.lstrip('/')}" if scheme == "hdfs" else name)
        plain = url.path if url.scheme == _FILE else path
        return Dataset(_FILE, str((self.root / plain).absolute()).rstrip("/") or "/")


def _in_catalog(profile: Profile, catalog: str | None, name: str) -> Dataset:
    """Name a table by the catalog that keeps it: where its rows are is known to the catalog alone."""
    settings = profile.catalogs.get(catalog, {}) if catalog is not None else {}
    kind = settings.get("type")
    uri = settings.get("uri")
    if kind == "glue" or settings.get("catalog-impl", "").endswith("GlueCatalog"):
        region, account = settings.get("client.region", ""), settings.get("glue.id", "")
        return Dataset(f"arn:aws:glue:{region}:{account}", f"table/{name.replace('.', '/', 1)}")
    if kind == "hive" or (catalog is None and _metastore(profile.conf) is not None):
        thrift = uri or _metastore(profile.conf)
        if thrift is not None:
            return Dataset(f"hive://{_host(thrift)}", name)
    if uri is not None and uri.startswith(_JDBC):
        return _in_database(uri.removeprefix(_JDBC), name)
    if uri is not None and "://" in uri:
        return Dataset(f"{urlsplit(uri).scheme}://{_host(uri)}{urlsplit(uri).path.rstrip('/')}", name)
    if profile.platform == "databricks":
        return Dataset(f"unitycatalog://{_host(profile.where)}", f"{catalog}.{name}" if catalog else name)
    server = _host(profile.where) if "://" in profile.where else profile.where
    return Dataset(f"spark://{server}", f"{catalog}.{name}" if catalog else name)


def _metastore(conf: Mapping[str, str]) -> str | None:
    return next((conf[key] for key in _METASTORE if key in conf), None)


def _host(url: str) -> str:
    """The host and port of a URL, without user and password; of a list of servers, of the first."""
    return urlsplit(url.partition(",")[0]).netloc.rpartition("@")[2]


def _in_database(url: str, name: str) -> Dataset:
    """Name a table of a catalog in a database, by its URL without `jdbc:`, user, password and options."""
    plain = url.partition("?")[0].partition(";")[0]
    address = urlsplit(plain)
    if not address.netloc:
        kind, _, place = plain.partition(":")
        return Dataset(f"{kind}:{place.rpartition('@')[2]}", name)
    kind = _DATABASES.get(address.scheme, address.scheme)
    server = address.netloc.rpartition("@")[2].lower()
    if kind in _PORTS and not re.search(r":\d+$", server):
        server = f"{server}:{_PORTS[kind]}"
    database = address.path.strip("/")
    return Dataset(f"{kind}://{server}", f"{database}.{name}" if database else name)


def _topics(options: Mapping[str, str]) -> Iterator[Dataset]:
    """Yield a dataset for each topic that is named. The topics of a pattern are not known."""
    server = options.get("kafka.bootstrap.servers", "").partition(",")[0].strip().rpartition("://")[2]
    if not server:
        return
    names = [topic.strip() for topic in options.get("subscribe", "").split(",")]
    with suppress(ValueError):  # what is no JSON is refused by Spark
        assigned = json.loads(options.get("assign", "{}"))
        names += assigned if isinstance(assigned, dict) else ()
    for name in filter(None, names):
        yield Dataset(f"kafka://{server}", name)


def _without_glob(path: str) -> str:
    """The folder that a pattern is below; a path without a pattern as it is."""
    if not _GLOB.search(path):
        return path
    parts = path.split("/")
    return "/".join(parts[: next(number for number, part in enumerate(parts) if _GLOB.search(part))])
