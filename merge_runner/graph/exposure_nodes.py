"""The nodes of exposures: what outside of the project reads its tables."""

from __future__ import annotations

import hashlib

from merge_runner.graph.graph import ExposureNode
from merge_runner.graph.references import References, call_in
from merge_runner.project.load.files import ExposureEntry


def exposure_node(project: str, entry: ExposureEntry, references: References) -> ExposureNode:
    """Return the node of an exposure; what it depends on and is not there is a problem at its place."""
    exposure = entry.exposure
    parents = []
    for text, place in zip(exposure.depends_on, entry.parents, strict=True):
        call = call_in(text)
        if call is None:
            message = f'exposure {exposure.name}: "{text}" names no model and no source'
            references.problems.add("bad-exposure", message, place, "write ref('model') or source('name', 'table')")
        else:
            parents.append(references.resolve(*call, place))
    return ExposureNode(
        unique_id=f"exposure.{project}.{exposure.name}",
        name=exposure.name,
        path=entry.place.path,
        fqn=(project, exposure.name),
        place=entry.place,
        tags=exposure.all_tags,
        depends_on=tuple(dict.fromkeys(parent for parent in parents if parent is not None)),
        checksum=hashlib.sha256(repr(exposure).encode()).hexdigest(),
        description=exposure.description or "",
        meta=exposure.all_meta,
        config=exposure,
    )
