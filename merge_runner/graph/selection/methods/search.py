"""The table of selection methods, and looking a criterion up in it."""

from __future__ import annotations

from collections.abc import Callable

from merge_runner.errors import Problem, ProblemsError, nearest
from merge_runner.graph.selection.criterion import Criterion
from merge_runner.graph.selection.methods import changed, names, properties
from merge_runner.graph.selection.methods.lookup import Lookup, bad_value

_METHODS: dict[str, Callable[[Lookup, Criterion], set[str]]] = {
    "access": properties.by_access,
    "config": properties.by_config,
    "exposure": names.by_exposure,
    "file": names.by_file,
    "fqn": names.by_fqn,
    "git": changed.by_git,
    "group": properties.by_group,
    "package": names.by_package,
    "path": names.by_path,
    "resource_type": properties.by_resource_type,
    "result": changed.by_result,
    "source": names.by_source,
    "state": changed.by_state,
    "tag": properties.by_tag,
    "test_name": properties.by_test_name,
    "test_type": properties.by_test_type,
}


def search(lookup: Lookup, criterion: Criterion) -> set[str]:
    """The ids that the method and value match, operators aside; a warning is kept where a name matches nothing.

    ProblemsError for an unknown method or a value that the method does not have.
    """
    method = _METHODS.get(criterion.method)
    if method is None:
        message = f'"{criterion.text}" uses the selection method "{criterion.method}", which does not exist'
        methods = sorted([*_METHODS, "selector"])
        close = nearest(criterion.method, methods)
        hint = f'did you mean "{close}:"?' if close else f"the methods are {', '.join(methods)}"
        raise ProblemsError([Problem("unknown-selector-method", message, hint=hint)])
    if criterion.arguments and criterion.method != "config":
        dotted = ".".join((criterion.method, *criterion.arguments))
        raise bad_value(criterion, f'only "config" takes a dotted key, not "{dotted}"', f"write {criterion.method}:…")
    return method(lookup, criterion)
