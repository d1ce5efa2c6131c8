"""MERGEs in the hooks of a model or seed, as files to lint: each is judged where its config has the hook."""

from __future__ import annotations

from dataclasses import dataclass

from merge_runner.errors import ProblemsError
from merge_runner.graph.graph import ModelNode, Node, RefNode, SeedNode
from merge_runner.graph.hooks import hook
from merge_runner.lint.context import LintedFile
from merge_runner.merge.find import holds_merge
from merge_runner.plan.load.compiler import Compiler
from merge_runner.project.load.files import ProjectFiles
from merge_runner.project.schema.config_layers import Layer
from merge_runner.pruning.predicate.variables import declared_variables
from merge_runner.text import SourceText


@dataclass(frozen=True)
class DeclaredHook:
    """A hook as it is in a config. `when` is `pre_hook` or `post_hook`."""

    when: str
    text: str


def has_merges(node: Node) -> bool:
    """Whether a node may hold MERGEs: a model, and a seed with hooks."""
    return isinstance(node, ModelNode) or (isinstance(node, SeedNode) and bool(hooks_of(node)))


def hooks_of(node: RefNode) -> tuple[DeclaredHook, ...]:
    """Return the hooks of a model or seed in the order in which they run."""
    config = node.config
    before = [DeclaredHook("pre_hook", text) for text in config.pre_hook]
    return (*before, *(DeclaredHook("post_hook", text) for text in config.post_hook))


def hook_file(files: ProjectFiles, node: RefNode, declaration: DeclaredHook, compiler: Compiler) -> LintedFile | None:
    """Return a hook as a file to lint, not parsed yet; None where it renders to no MERGE in this kind of run.

    It has no node: its MERGE is no model's, and nothing is added to it when it runs. Its source has the texts of the
    model and of all hooks, for rules that ask what else is run with it.
    """
    try:
        layers = _layers(files, node, compiler)
        snippet = hook(node.path, layers, declaration.when, declaration.text)
        rendered = compiler.snippet(node, snippet)
    except ProblemsError:
        return None  # it is reported where the model is rendered, or where its hooks are captured
    if not holds_merge(rendered.text):
        return None
    texts = (node.raw_code, *(entry.text for entry in hooks_of(node)))
    return LintedFile(
        SourceText(snippet.at.path, ";\n".join(texts)),
        None,
        rendered,
        node.name,
        platform=files.profile.platform,
        line=files.profile.line,
        conf={**files.profile.conf, **node.config.conf},
        variables=declared_variables(node.config.pre_hook),
        scan=node.config.scan,
    )


def _layers(files: ProjectFiles, node: RefNode, compiler: Compiler) -> tuple[Layer, ...]:
    """All config of a node, the most specific last. Raises ProblemsError where its template cannot be rendered."""
    if isinstance(node, SeedNode):
        return files.seeds[node.name].layers
    return (*files.models[node.name].layers, compiler.render(node.unique_id).captured.config)
