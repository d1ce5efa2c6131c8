"""The nodes of analyses: queries of the project that are compiled, and that no command builds."""

from __future__ import annotations

from merge_runner.errors import Problems
from merge_runner.graph.config_checks import refuse_unknown_keys
from merge_runner.graph.graph import AnalysisNode
from merge_runner.graph.source_node import checksum
from merge_runner.project.load.files import AnalysisFile
from merge_runner.project.schema.analysis import AnalysisConfig, AnalysisProperties
from merge_runner.template.capture import Capture
from merge_runner.text import Place

_CONFIG = ("enabled", "tags", "meta", "docs")


def analysis_node(
    project: str,
    file: AnalysisFile,
    captured: Capture,
    parents: tuple[str, ...],
    macros: tuple[str, ...],
    problems: Problems,
) -> AnalysisNode:
    """Return the node of an analysis; unknown keys of its config are problems."""
    own_config = captured.config.values
    refuse_unknown_keys(captured.config, _CONFIG, "an analysis: nothing builds it", problems)
    properties = file.properties or AnalysisProperties(file.name)
    below = properties.config
    tags = own_config.get("tags", ())
    own_tags = (tags,) if isinstance(tags, str) else tuple(tags)
    config = AnalysisConfig(
        enabled=bool(own_config.get("enabled", below.enabled)),
        tags=tuple(dict.fromkeys((*properties.tags, *below.tags, *map(str, own_tags)))),
        meta={**properties.meta, **below.meta, **own_config.get("meta", {})},
        docs={**properties.docs, **below.docs, **own_config.get("docs", {})},
    )
    return AnalysisNode(
        unique_id=f"analysis.{project}.{file.name}",
        name=file.name,
        path=file.source.path,
        fqn=(project, "analysis", *file.folder, file.name),
        place=Place(file.source.path, 1, 1),
        config=config,
        tags=config.tags,
        meta=config.meta,
        depends_on=parents,
        checksum=checksum(file.source.text),
        description=properties.description,
        raw_code=file.source.text,
        macros=macros,
        patch_path=file.properties_place.path if file.properties_place else None,
        columns={str(column["name"]): column for column in properties.columns if "name" in column},
    )
