"""The facets of events as JSON values, each with the version of the schema that it follows.

The schemas are those of OpenLineage 2-0-2, as of August 2026; `mergeRunner_merge` is merge-runner's own
(`merge_runner/openlineage/schemas`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from merge_runner.lineage.edge import Input
from merge_runner.openlineage.dataset import Dataset
from merge_runner.version import version

PRODUCER = "https://github.com/merge-runner/merge-runner"
EVENT_SCHEMA = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
MERGE = "mergeRunner_merge"
_OWN = f"{PRODUCER}/blob/main/merge_runner/openlineage/schemas/1-0-0/MergeRunnerMergeRunFacet.json"
_SCHEMAS = {
    "parent": "1-2-0/ParentRunFacet",
    "errorMessage": "1-0-1/ErrorMessageRunFacet",
    "processing_engine": "1-1-1/ProcessingEngineRunFacet",
    "jobType": "2-0-4/JobTypeJobFacet",
    "sql": "1-1-0/SQLJobFacet",
    "sourceCodeLocation": "1-1-0/SourceCodeLocationJobFacet",
    "documentation": "1-1-0/DocumentationJobFacet",
    "schema": "1-2-0/SchemaDatasetFacet",
    "symlinks": "1-0-1/SymlinksDatasetFacet",
    "version": "1-0-1/DatasetVersionDatasetFacet",
    "columnLineage": "1-2-0/ColumnLineageDatasetFacet",
    "inputStatistics": "1-0-0/InputStatisticsInputDatasetFacet",
    "outputStatistics": "1-0-2/OutputStatisticsOutputDatasetFacet",
    "dataQualityAssertions": "1-1-0/DataQualityAssertionsDatasetFacet",
}


def facet(name: str, /, **content: Any) -> dict[str, Any]:
    """Return `{name: facet}`, without keys that are None; `{}` where nothing is left."""
    values = {key: value for key, value in content.items() if value is not None}
    if not values:
        return {}
    schema = _OWN if name == MERGE else f"https://openlineage.io/spec/facets/{_SCHEMAS[name]}.json"
    fragment = schema.rpartition("/")[2].removesuffix(".json")
    return {name: {"_producer": PRODUCER, "_schemaURL": f"{schema}#/$defs/{fragment}", **values}}


def processing_engine(spark: str | None) -> dict[str, Any]:
    """Return the facet of the Spark that runs, by its version; nothing where that is not known."""
    if spark is None:
        return {}
    return facet("processing_engine", name="spark", version=spark, openlineageAdapterVersion=version())


def symlinks(dataset: Dataset) -> dict[str, Any]:
    """Return the facet of the other names of a dataset."""
    identifiers = [{"namespace": namespace, "name": name, "type": "TABLE"} for namespace, name in dataset.symlinks]
    return facet("symlinks", identifiers=identifiers or None)


def schema(columns: Mapping[str, Mapping[str, Any]], names: Iterable[str] = ()) -> dict[str, Any]:
    """Return the facet of the columns: those that are declared, with type and description, then others by name."""
    fields = [
        {
            "name": name,
            **({"type": str(column["data_type"])} if column.get("data_type") else {}),
            **({"description": str(column["description"])} if column.get("description") else {}),
        }
        for name, column in columns.items()
    ]
    declared = {name.casefold() for name in columns}
    fields += [{"name": name} for name in names if name.casefold() not in declared]
    return facet("schema", fields=fields or None)


def column_lineage(
    columns: Iterable[tuple[str, tuple[Input, ...]]], rows: Iterable[Input], datasets: Mapping[str, Iterable[Dataset]]
) -> dict[str, Any]:
    """Return the facet of the columns of an output: what writes each, and what decides about all rows (`dataset`).

    `datasets` are by the folded names of their relations; an input of no known dataset is left out, one of a
    stream of several topics is there for each.
    """
    fields = {name: {"inputFields": list(_input_fields(inputs, datasets))} for name, inputs in columns}
    everywhere = list(_input_fields(rows, datasets))
    return facet("columnLineage", fields=fields, dataset=everywhere or None) if fields or everywhere else {}


def _input_fields(inputs: Iterable[Input], datasets: Mapping[str, Iterable[Dataset]]) -> Iterable[dict[str, Any]]:
    by_field: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for column_input in inputs:
        for dataset in datasets.get(column_input.relation.casefold(), ()):
            transformations = by_field.setdefault((dataset.namespace, dataset.name, column_input.column), [])
            kind = "DIRECT" if column_input.is_direct else "INDIRECT"
            transformations.append({"type": kind, "subtype": column_input.subtype.upper()})
    for (namespace, name, column), transformations in by_field.items():
        yield {"namespace": namespace, "name": name, "field": column, "transformations": transformations}
