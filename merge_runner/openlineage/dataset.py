"""The names of tables, views and files in OpenLineage: where the rows are, and the name of the table as a symlink.

The rules are those of the specification's Naming.md as openlineage-spark 1.54 applies them (PathUtils, IcebergHandler),
so that both name the same dataset: a path without a slash at its end, `s3` for `s3a`, a metastore's name next to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from merge_runner.graph.graph import Node, SourceNode, run_config
from merge_runner.graph.naming import table_location
from merge_runner.project.schema.profile import Profile
from merge_runner.relation import Relation

_FILE = "file"
_SCHEMES = {"s3a": "s3", "s3n": "s3", "abfs": "abfss", "wasb": "wasbs"}
_METASTORE = ("spark.hadoop.hive.metastore.uris", "spark.hive.metastore.uris", "hive.metastore.uris")
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

    def of_node(self, node: Node) -> Dataset | None:
        """Return the dataset of a model, seed or source; None for what stores nothing: an ephemeral model, a test."""
        if isinstance(node, SourceNode):
            stream = node.config.stream
            if stream is not None and (topic := _topic({**node.config.options, **stream.options})) is not None:
                return topic
            path = (stream and stream.path) or node.config.path
            if path is not None:
                return self.at(path)
        if node.relation is None or node.materialized == "ephemeral":
            return None
        format = node.config.format if isinstance(node, SourceNode) else run_config(node).format
        return self.of_table(node.relation, format)

    def of_table(self, relation: Relation, format: str | None) -> Dataset:
        """Return the dataset of a table or view: a folder of the embedded warehouse, or what a catalog keeps."""
        name = f"{relation.schema or 'default'}.{relation.identifier}"
        catalog, profile = relation.catalog, self.profile
        location = table_location(self.root, profile, relation, format)
        if isinstance(location, Path):
            return Dataset(_FILE, str(location.absolute()), ((f"{_FILE}:{self._warehouse}", name),))
        if location is not None:
            stored, warehouse = self.at(str(location)), self.at(str(profile.warehouse))
            return replace(stored, symlinks=((f"{warehouse.namespace}/{warehouse.name}", name),))
        if catalog is not None and catalog in profile.embedded_catalogs:
            folder = f"{self._warehouse}/{catalog}"  # where Iceberg's JDBC catalog creates tables
            path = "/".join((folder, relation.schema or "default", relation.identifier))
            return Dataset(_FILE, path, ((f"{_FILE}:{folder}", name),))
        return _in_catalog(profile, catalog, name)

    def at(self, path: str) -> Dataset:
        """Return the dataset of files at a path: relative to the project, absolute, or a URL."""
        url = urlsplit(path)
        if "://" in path and url.scheme != _FILE:
            name = _without_glob(url.path).strip("/") or "/"
            scheme = _SCHEMES.get(url.scheme, url.scheme)
            # HDFS and the local disk have paths from the root, object stores have keys.
            return Dataset(f"{scheme}://{url.netloc}", f"/{name.lstrip('/')}" if scheme == "hdfs" else name)
        plain = url.path if url.scheme == _FILE else path
        return Dataset(_FILE, _without_glob(str((self.root / plain).absolute())).rstrip("/") or "/")

    @property
    def _warehouse(self) -> str:
        return str((self.root / str(self.profile.warehouse)).absolute())


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


def _topic(options: Mapping[str, str]) -> Dataset | None:
    servers, topic = options.get("kafka.bootstrap.servers"), options.get("subscribe")
    if servers is None or topic is None:
        return None
    return Dataset(f"kafka://{servers.partition(',')[0]}", topic)


def _without_glob(path: str) -> str:
    """The folder that a pattern is below; a path without a pattern as it is."""
    if not _GLOB.search(path):
        return path
    parts = path.split("/")
    return "/".join(parts[: next(number for number, part in enumerate(parts) if _GLOB.search(part))])
