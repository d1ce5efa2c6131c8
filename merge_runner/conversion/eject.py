"""The text of a model in which the MERGE is written out that a macro of merge_patterns wrote.

The model is rendered with markers for its tables and vars, in a first run and in an incremental one; what a tag wrote
becomes text again, with calls in place of the markers and `is_incremental()` around what differs. That is then
rendered next to the model, also with other vars, tables, targets and environments: where any text differs, it is
refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Any

from jinja2 import Environment

from merge_runner.conversion.markers import ChangedValues, Markers, altered
from merge_runner.errors import Problem, ProblemsError
from merge_runner.template.capture import Capture
from merge_runner.template.context import Context
from merge_runner.template.packages import PATTERNS
from merge_runner.template.rendered_text import RenderedText
from merge_runner.text import SourceText, Span

Change = Callable[[Context], Context]
Render = Callable[[SourceText, Change], RenderedText]
"""Renders a text as a model, in its context with a change. Raises ProblemsError."""

_JINJA = Environment()
_READ = frozenset({"var", "env_var", "target"})
_DECIDES = {
    "name": frozenset({"if", "elif", "and", "or", "not", "in", "is"}),
    "operator": frozenset({"==", "!=", "<", "<=", ">", ">="}),
}
_OF_RUN = frozenset({"is_incremental", "is_full_refresh", "if", "elif", "and", "or", "not"})
_HINT = "write that part of the statement yourself, or leave the call as it is"


@dataclass(frozen=True)
class _Run:
    """A kind of run, and the change of the context that makes it."""

    name: str
    incremental: bool = False
    full_refresh: bool = False

    def __call__(self, context: Context) -> Context:
        return replace(context, incremental=self.incremental, full_refresh=self.full_refresh)


_FIRST, _INCREMENTAL = _Run("a first run"), _Run("an incremental run", incremental=True)
_RUNS = (_FIRST, _INCREMENTAL, _Run("a full refresh", full_refresh=True))


def eject(source: SourceText, render: Render, macros: Mapping[str, str]) -> str:
    """Return the text of the model without calls of packages of macros.

    `macros` are the texts of the project's macros by name. Raises ProblemsError: `no-pattern` where it has none,
    `not-ejected` where something cannot be kept.
    """
    rendered = {run: render(source, run) for run in _RUNS}
    tags = rendered[_FIRST].map.tags
    calling = [nth for nth, tag in enumerate(tags) if f"{PATTERNS}." in _text(source, tag)]
    if not calling:
        hint = f"it calls no macro of {PATTERNS} itself"
        raise ProblemsError([Problem("no-pattern", "there is nothing to eject", source.place(0), hint)])
    called_macros = frozenset[str]().union(*(rendered_run.captured.macros for rendered_run in rendered.values()))
    for text in (source.text, *(macros[name] for name in sorted(called_macros & macros.keys()))):
        if (condition := _condition(text)) is not None:
            reason = f"a condition may depend on a var, the target or the environment: {condition}"
            raise _refusal(source, tags[calling[0]], reason)
    names = frozenset[str]().union(*(rendered_run.captured.vars for rendered_run in rendered.values()))
    written_tags = {run: _tag_texts(source, render, run, names, calling) for run in (_FIRST, _INCREMENTAL)}
    text = source.text
    for nth in reversed(calling):
        texts = [written_tags[run][nth] for run in (_FIRST, _INCREMENTAL) if nth in written_tags[run]]
        if not texts:
            raise _refusal(source, tags[nth], "it is under a condition that no run fulfils")
        text = _replace_tag(text, tags[nth], _of_both(texts[0], texts[-1]))
    again = SourceText(source.path, text)
    for change, reason in _changes(names):
        _compare(source, again, render, change, reason, tags[calling[0]])
    return text


def _text(source: SourceText, span: Span) -> str:
    return source.text[span.start : span.end]


def _condition(text: str) -> str | None:
    """Return a tag whose condition may depend on what the text reads of vars, target and environment; None: none does.

    What it is for other values cannot be seen by rendering. A condition on the kind of run alone is kept.
    """
    tags = [(tag, {word for kind, word in tag if kind == "name"}) for tag in _tags(text)]
    if all(_READ.isdisjoint(words) for _, words in tags):
        return None
    conditions = (tag for tag, words in tags if words - _OF_RUN and _decides(tag))
    return next(("".join(word for _, word in tag) for tag in conditions), None)


def _tags(text: str) -> Iterator[list[tuple[str, str]]]:
    """Yield the tokens of each tag, as kind and text, with the blanks among them."""
    tag: list[tuple[str, str]] = []
    for _, kind, word in _JINJA.lex(text):
        if kind in ("variable_begin", "block_begin"):
            tag = []
        tag.append((kind, word))
        if kind in ("variable_end", "block_end"):
            yield tag


def _decides(tag: list[tuple[str, str]]) -> bool:
    """Return whether a tag has a condition or a comparison; the `in` of a loop is none."""
    is_loop = False
    for kind, word in tag:
        if is_loop:
            is_loop = word != "in"
        elif (kind, word) == ("name", "for"):
            is_loop = True
        elif word in _DECIDES.get(kind, ()):
            return True
    return False


def _refusal(source: SourceText, tag: Span, reason: str) -> ProblemsError:
    return ProblemsError([Problem("not-ejected", reason, source.place(tag.start, tag.end), _HINT)])


def _tag_texts(
    source: SourceText, render: Render, run: _Run, names: frozenset[str], calling: list[int]
) -> dict[int, str]:
    """Return what each of the calling tags writes in a kind of run, with calls in place of markers."""
    markers: list[Markers] = []

    def with_markers(context: Context) -> Context:
        markers.append(Markers(run(context), names))
        return markers[-1].context

    rendered = render(source, with_markers)
    by_tag: dict[int, str] = {}
    for nth in calling:
        tag = rendered.map.tags[nth]
        if not source.text.startswith("{{", tag.start):
            raise _refusal(source, tag, "a macro of a package is called in a block, and not in {{ }}")
        texts = set(_pieces(rendered, nth))
        if len(texts) > 1:
            raise _refusal(source, tag, "a loop calls it, and it writes several texts")
        if texts:
            by_tag[nth] = markers[-1].written(texts.pop(), rendered.captured)
    return by_tag


def _pieces(rendered: RenderedText, tag: int) -> Iterator[str]:
    """Yield what a tag wrote, each time that it was evaluated."""
    starts, origins = rendered.map.starts, rendered.map.origins
    piece = ""
    for start, end, origin in zip(starts, (*starts[1:], len(rendered.text)), origins, strict=False):
        if origin == -1 - tag:
            piece += rendered.text[start:end]
        elif piece:
            yield piece
            piece = ""
    if piece:
        yield piece


def _replace_tag(text: str, tag: Span, by: str) -> str:
    """Return the text with another in place of a tag, whose dashes take the blanks around it away."""
    before, after = text[: tag.start], text[tag.end :]
    if text.startswith("{{-", tag.start):
        before = before.rstrip()
    if text.startswith("-}}", tag.end - 3):
        after = after.lstrip()
    return before + by + after


def _of_both(first: str, incremental: str) -> str:
    """Return one text for both kinds of run: lines that differ are in `{% if is_incremental() %}`."""
    if first == incremental:
        return first
    old, new = first.split("\n"), incremental.split("\n")
    lines: list[str] = []
    for kind, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += old[start:end]
            continue
        if not lines:  # a dash before the first line would take away what is before the statement
            return "{% if is_incremental() %}" + incremental + "{% else %}" + first + "{% endif %}"
        added_lines, removed_lines = new[new_start:new_end], old[start:end]
        first_lines = added_lines or removed_lines
        indent = first_lines[0][: len(first_lines[0]) - len(first_lines[0].lstrip())]
        lines.append(f"{indent}{{%- if {'' if added_lines else 'not '}is_incremental() %}}")
        lines += first_lines
        if added_lines and removed_lines:
            lines += [f"{indent}{{%- else %}}", *removed_lines]
        lines.append(f"{indent}{{%- endif %}}")
    return "\n".join(lines)


def _changes(names: frozenset[str]) -> Iterator[tuple[Change, str]]:
    """Yield what may be otherwise in another run of the model, and why a text that depends on it is refused."""
    for name in sorted(names):
        yield _with_var(name), f"its text depends on the var {name} otherwise than by its value as a literal or a name"
    yield _other_tables, "its text is made of parts of a table's name"
    yield lambda context: context, "its text is made of parts of a table's name or of a var"
    yield (
        lambda context: replace(context, target=ChangedValues(context.target, {}, _other_text)),
        "its text depends on the target",
    )
    yield (
        lambda context: replace(context, env=ChangedValues(context.env, {}, _other_text)),
        "its text holds an environment variable",
    )


def _with_var(name: str) -> Change:
    return lambda context: replace(
        context, vars=ChangedValues(context.vars, {name: altered(context.vars.get(name, ""))})
    )


def _other_tables(context: Context) -> Context:
    return Markers(context, frozenset()).context


def _other_text(value: Any) -> Any:
    return f"{value}_x" if isinstance(value, str) else value


def _compare(source: SourceText, again: SourceText, render: Render, change: Change, reason: str, tag: Span) -> None:
    """Raise ProblemsError where the two texts are not the same in any kind of run."""
    for run in _RUNS:

        def change_context(context: Context, run: _Run = run) -> Context:
            return change(run(context))

        outcome, outcome_again = _outcome(source, render, change_context), _outcome(again, render, change_context)
        if outcome != outcome_again:
            raise _refusal(source, tag, f"{reason} ({run.name})")


def _outcome(source: SourceText, render: Render, change: Change) -> tuple[str, Mapping[str, Any]] | None:
    """Return the text and what it captures; None where it cannot be rendered."""
    try:
        rendered = render(source, change)
    except ProblemsError:
        return None
    return rendered.text, _captured_names(rendered.captured)


def _captured_names(captured: Capture) -> Mapping[str, Any]:
    """Return what a text asks for that a build acts on."""
    return {
        "refs": {ref.name for ref in captured.refs},
        "changes": {ref.name for ref in captured.changes},
        "sources": {(source.source, source.table) for source in captured.sources},
        "config": dict(captured.config.values),
        "this": captured.uses_this,
    }
