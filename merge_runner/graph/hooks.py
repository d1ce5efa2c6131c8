"""Hooks of a model: where each was written, and what it refers to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from merge_runner.errors import Problem, Problems, ProblemsError
from merge_runner.project.config import Layer, ModelConfig, hook_texts
from merge_runner.template.captured import Captured, Ref, SourceRef
from merge_runner.text import Place, SourceText

if TYPE_CHECKING:
    from merge_runner.template.context import Context
    from merge_runner.template.templates import Templates

_Call = TypeVar("_Call", Ref, SourceRef)


@dataclass(frozen=True)
class Snippet:
    """A text with Jinja that stands inside a value, such as a hook in a config; `place` is that of the value's key.

    Offsets in it mean nothing to its author, so all that is found in it is told at `place`.
    """

    source: SourceText
    place: Place

    @contextmanager
    def placed(self) -> Iterator[None]:
        """Problems of the snippet's own text, raised inside, get its place; those of macros keep theirs."""
        try:
            yield
        except ProblemsError as error:
            raise ProblemsError(self._placed(problem) for problem in error.problems) from None

    def _placed(self, problem: Problem) -> Problem:
        own = problem.place is None or problem.place.path == self.source.path
        return replace(problem, place=self.place) if own else problem


def hook(path: str, layers: Sequence[Layer], when: str, text: str) -> Snippet:
    """The hook `text` of the model in the file `path`; `layers` are all of its config, the most specific last."""
    written = (layer.places.get(when) for layer in reversed(layers) if text in hook_texts(layer.values.get(when)))
    place = next((place for place in written if place is not None), Place(path, 1, 1))
    return Snippet(SourceText(f"{path} ({when})", text), place)


def captured_in_hooks(
    path: str,
    layers: Sequence[Layer],
    config: ModelConfig,
    templates: Templates,
    context: Context,
    problems: Problems,
) -> Iterator[Captured]:
    """What each hook refers to, at the hook's place; a hook that cannot be read is a problem."""
    for when, texts in (("pre_hook", config.pre_hook), ("post_hook", config.post_hook)):
        for text in texts:
            snippet = hook(path, layers, when, text)
            with problems.collecting(), snippet.placed():
                captured = templates.capture(snippet.source, context)
                yield replace(
                    captured,
                    refs=tuple(_at(ref, snippet) for ref in captured.refs),
                    sources=tuple(_at(source, snippet) for source in captured.sources),
                    changes=tuple(_at(call, snippet) for call in captured.changes),
                )


def _at(call: _Call, snippet: Snippet) -> _Call:
    return replace(call, place=snippet.place) if call.place.path == snippet.source.path else call
