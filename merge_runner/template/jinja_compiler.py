"""A template as Python code that knows its author's offsets.

Jinja keeps a line number on every token and syntax node, and writes a table from lines of generated code to these
numbers. Here each "line number" is the offset of the token in the source plus one, so that every error of the parser,
the code generator and the running code has an exact place. The root of the generated code yields, before each piece of
text, an integer that says where the piece comes from (see SourceMap); text that Jinja collects in a buffer (macros,
`set`, `call` and `filter` blocks, recursive loops) gets none, since the tag that puts the buffer out has its own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from jinja2 import Environment, Template, nodes
from jinja2.compiler import CodeGenerator, Frame, optimizeconst
from jinja2.exceptions import TemplateSyntaxError
from jinja2.idtracking import VAR_LOAD_PARAMETER
from jinja2.lexer import TokenStream
from jinja2.parser import Parser
from jinja2.runtime import Context as JinjaContext

from merge_runner.errors import Problem, ProblemsError, did_you_mean
from merge_runner.template.static.macro_definitions import TEST_PREFIX
from merge_runner.text import SourceText, Span

CALL_OFFSET = "_call_offset"
"""The keyword by which `Environment.call` gets the offset of the call in the source."""
MAY_BE_UNDEFINED = {"tests": frozenset({"defined", "undefined"}), "filters": frozenset({"default", "d"})}
"""The tests and filters that an undefined value may be given to: they ask whether there is one."""

MAX_TOKENS = 100_000
"""Words and signs in the tags of a file: Jinja takes some 0.1 milliseconds for each, and asks no limits."""
_NO_SUCH = re.compile(r"No (filter|test) named '([^']*)'")
_WITHOUT = {
    "include": "one model is one file: put what models share into a macro",
    "import": "every macro of the project is visible everywhere, without an import",
    "from": "every macro of the project is visible everywhere, without an import",
    "extends": "templates do not inherit: put what models share into a macro",
    "block": "templates do not inherit: put what models share into a macro",
    "snapshot": "write the history as a merge model",
    "materialization": "config(materialized=…) is merge, table, view or ephemeral",
    "docs": "a docs block belongs in a .md file of the model paths",
    "autoescape": "HTML escaping is wrong for SQL: use the filters literal and identifier",
}


@dataclass(frozen=True)
class CompiledTemplate:
    """A template that is ready to run. `root` yields the text and the origin of each piece of it."""

    source: SourceText
    root: Callable[[JinjaContext], Iterator[str | int]]
    tags: tuple[Span, ...]


def compile_template(environment: Environment, source: SourceText) -> CompiledTemplate:
    """Parses and compiles `source`; raises ProblemsError (`jinja-syntax`, for a filter `undefined-name`)."""
    if "\r" in source.text:
        # Jinja would make newlines of them, and no later offset would be right.
        place = source.place(source.text.index("\r"))
        raise ProblemsError([Problem("jinja-syntax", "a carriage return", place, "end lines with a newline alone")])
    parser = OffsetParser(environment, source)
    try:
        tree = parser.parse()
        generator = OffsetGenerator(environment, source.path, parser.tags)
        generator.visit(tree)
        code = compile(generator.stream.getvalue(), source.path, "exec")  # type: ignore[attr-defined]
    except TemplateSyntaxError as error:
        raise ProblemsError([_problem(environment, source, parser, error)]) from None
    except (RecursionError, MemoryError):
        place = source.place(parser.offset)
        problem = Problem("jinja-syntax", "the template is nested too deeply", place, "move an inner part into a macro")
        raise ProblemsError([problem]) from None
    except (SyntaxError, ValueError) as error:
        # What Jinja's grammar allows and Python's compiler does not: a keyword argument twice, twenty nested loops.
        offset = _offset_of_code_line(generator, error) if isinstance(error, SyntaxError) else parser.offset
        raise ProblemsError([Problem("jinja-syntax", _first_line(error), source.place(offset))]) from None
    template = Template.from_code(environment, code, environment.globals)
    return CompiledTemplate(source, template.root_render_func, tuple(parser.tags))


def assigned_names(environment: Environment, source: SourceText) -> set[str]:
    """The names that a template, which must compile, gives a value itself: by set, for, with, macro and parameters."""
    tree = OffsetParser(environment, source).parse()
    names = {node.name for node in tree.find_all(nodes.Name) if node.ctx != "load"}
    return names | {node.name for node in tree.find_all(nodes.Macro)}


_TAGS = ("if", "for", "set", "macro", "call", "filter", "with", "do", "print", "raw")
_AT_OFFSET = re.compile(r" at \d+\Z")
"""What the lexer adds to a message: an offset, which is in the place."""


def required_arguments(environment: Environment, source: SourceText) -> tuple[str, ...]:
    """Return the arguments without a default of the first macro in a text that can be compiled."""
    macro = OffsetParser(environment, source).parse().find(nodes.Macro)
    names = [argument.name for argument in macro.args] if macro is not None else []
    return tuple(names[: len(names) - len(macro.defaults)]) if macro is not None else ()


class OffsetParser(Parser):
    """Jinja's parser over tokens whose line number is their offset plus one; collects the span of each tag."""

    def __init__(self, environment: Environment, source: SourceText) -> None:
        super().__init__(environment, "", source.path)
        self.tags: list[Span] = []
        self.offset = 0
        self.open_tag: int | None = None
        self.extensions |= dict.fromkeys(("test", "data_test"), _test_block)
        self._source = source
        self._text = source.text
        self._blocks: list[tuple[str, int]] = []

    def parse(self) -> nodes.Template:
        # The stream reads its first token when it is made, and that may already be broken.
        self.stream = TokenStream(self.environment.lexer.wrap(self._tokens()), self.name, None)
        return super().parse()

    def _tokens(self) -> Iterator[tuple[int, str, str]]:
        lexed = self.environment.lexer.tokeniter(self._text, self.name)
        end = tokens = 0
        while True:
            if tokens > MAX_TOKENS:
                place = self._source.place(end)
                message = f"the tags of the file have more than {MAX_TOKENS:,} words and signs"
                raise ProblemsError([Problem("render-limit", message, place, "move its data into a seed")])
            try:
                token = next(lexed, None)
            except TemplateSyntaxError as error:
                # A comment or raw block without an end is best shown where it begins.
                error.lineno = (self.offset if "Missing end of" in str(error.message) else end) + 1
                raise
            if token is None:
                return
            _, kind, value = token
            # The lexer drops what whitespace control strips before a tag, and keeps everything else.
            self.offset = start = self._text.index(value, end)
            end = start + len(value)
            tokens += kind not in ("data", "whitespace")
            if kind in ("variable_begin", "block_begin"):
                self.open_tag = start
            elif kind in ("variable_end", "block_end") and self.open_tag is not None:
                self.tags.append(Span(self.open_tag, start + len(value.rstrip())))
                self.open_tag = None
            yield start + 1, kind, value

    def parse_statement(self) -> nodes.Node | list[nodes.Node]:
        token = self.stream.current
        if token.value in _WITHOUT:
            self.fail(f"{{% {token.value} %}} does not exist here: {_WITHOUT[token.value]}", token.lineno)
        self._blocks.append((token.value, token.lineno))
        statement = super().parse_statement()
        self._blocks.pop()
        return statement

    def fail_unknown_tag(self, name: str, lineno: int | None = None) -> NoReturn:
        closes = name.startswith("end") or name in ("else", "elif")
        if closes and len(self._blocks) > 1:  # the last one is this tag
            open_tag, number = self._blocks[-2]
            line = self._text.count("\n", 0, number - 1) + 1
            inside = f"{{% {name} %}} is inside {{% {open_tag} %}} of line {line}, which is not closed"
            self.fail(f"{inside}: {{% end{open_tag} %}} is missing", lineno)
        if closes:
            self.fail(f"{{% {name} %}} belongs to no tag before it", lineno)
        self.fail(f"there is no tag {{% {name} %}}: {did_you_mean(name, _TAGS)}", lineno)

    def fail_eof(self, end_tokens: tuple[str, ...] | None = None, lineno: int | None = None) -> NoReturn:
        if not self._blocks:
            super().fail_eof(end_tokens, lineno)
        name, offset = self._blocks[-1]
        self.fail(f"{{% {name} %}} is never closed: {{% end{name} %}} is missing", offset)


def _test_block(parser: Parser) -> nodes.Macro:
    """Read `{% test name(…) %}`: as in dbt it is the macro `test_name`."""
    tag = next(parser.stream)
    node = nodes.Macro(lineno=tag.lineno)
    node.name = TEST_PREFIX + parser.parse_assign_target(name_only=True).name
    parser.parse_signature(node)
    node.body = parser.parse_statements((f"name:end{tag.value}",), drop_needle=True)
    return node


class OffsetGenerator(CodeGenerator):
    """Jinja's code generator, which also passes offsets in the source to the running code.

    The running code finds the methods that it calls on `context` in environment.ModelContext.
    """

    def __init__(self, environment: Environment, path: str, tags: list[Span]) -> None:
        super().__init__(environment, path, path)
        self._tags = tags
        self._tag_starts = [tag.start for tag in tags]
        self._may_be_undefined: set[int] = set()
        """Ids of the names in the tree that are only asked whether they are defined."""
        self._loop_tests: set[int] = set()
        """Ids of the conditions of loops: `for … if …` looks at items that its body never sees."""

    def visit_Output(self, node: nodes.Output, frame: Frame) -> None:  # noqa: N802
        if frame.buffer is not None:
            super().visit_Output(node, frame)
            return
        for child in node.nodes:
            is_text = isinstance(child, nodes.TemplateData)
            self.writeline(f"yield {child.lineno - 1 if is_text else self._tag_origin(child)}")
            super().visit_Output(nodes.Output([child], lineno=child.lineno), frame)

    def start_write(self, frame: Frame, node: nodes.Node | None = None) -> None:
        if frame.buffer is None and node is not None:
            self.writeline(f"yield {self._tag_origin(node)}")
        super().start_write(frame, node)

    def visit_For(self, node: nodes.For, frame: Frame) -> None:  # noqa: N802
        if node.test is not None:
            self._loop_tests.add(id(node.test))
        super().visit_For(node, frame)

    def visit(self, node: nodes.Node, *args: Any, **kwargs: Any) -> Any:
        if id(node) not in self._loop_tests:
            return super().visit(node, *args, **kwargs)
        self.write("(context.filter_step() or ")
        super().visit(node, *args, **kwargs)
        self.write(")")
        return None

    def blockvisit(self, nodes: Iterable[nodes.Node], frame: Frame) -> None:
        if frame.loop_frame:
            self.writeline("context.step()")
        super().blockvisit(nodes, frame)

    def signature(
        self, node: nodes.Call | nodes.Filter | nodes.Test, frame: Frame, extra_kwargs: Mapping[str, Any] | None = None
    ) -> None:
        if isinstance(node, nodes.Call):
            callee = node.node
            while isinstance(callee, nodes.Getattr):
                callee = callee.node
            callee_name = callee if isinstance(callee, nodes.Name) else node
            extra_kwargs = {**(extra_kwargs or {}), CALL_OFFSET: callee_name.lineno - 1}
        super().signature(node, frame, extra_kwargs)

    def visit_Name(self, node: nodes.Name, frame: Frame) -> None:  # noqa: N802
        if node.ctx != "load":
            super().visit_Name(node, frame)
            return
        ref = frame.symbols.ref(node.name)
        load = frame.symbols.find_load(ref)
        if load is not None and load[0] == VAR_LOAD_PARAMETER and not self.parameter_is_undeclared(ref):
            self.write(ref)
        else:
            missing = "missing" if id(node) in self._may_be_undefined else "not_defined"
            value = f"context.this({ref})" if node.name == "this" else ref
            self.write(f"(context.{missing}({node.name!r}, {node.lineno - 1}) if {ref} is missing else {value})")

    def visit_Test(self, node: nodes.Test, frame: Frame) -> None:  # noqa: N802
        if node.name in MAY_BE_UNDEFINED["tests"]:
            self._allow_undefined(node.node)
        super().visit_Test(node, frame)

    def visit_Filter(self, node: nodes.Filter, frame: Frame) -> None:  # noqa: N802
        if node.name in MAY_BE_UNDEFINED["filters"]:
            for value in (node.node, *node.args):
                self._allow_undefined(value)
        super().visit_Filter(node, frame)

    def _allow_undefined(self, node: nodes.Node | None) -> None:
        """Leaves it to the test or filter that gets the value of `node` to say what becomes of an undefined name."""
        if isinstance(node, nodes.Name):
            self._may_be_undefined.add(id(node))
        elif isinstance(node, nodes.CondExpr):
            self._allow_undefined(node.expr1)
            self._allow_undefined(node.expr2)

    @optimizeconst
    def visit_Getattr(self, node: nodes.Getattr, frame: Frame) -> None:  # noqa: N802
        self.write("context.attribute(")
        self.visit(node.node, frame)
        self.write(f", {node.attr!r}, {node.lineno - 1})")

    @optimizeconst
    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802
        if isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("context.item(")
        self.visit(node.node, frame)
        self.write(", ")
        self.visit(node.arg, frame)
        self.write(f", {node.lineno - 1})")

    @optimizeconst
    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:  # noqa: N802
        # All other comparisons ask the undefined value itself.
        self.write("(context.defined(")
        self.visit(node.expr, frame)
        self.write(")")
        for operand in node.ops:
            self.visit(operand, frame)
        self.write(")")

    @optimizeconst
    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802
        self.write("context.concat((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    @optimizeconst
    def visit_List(self, node: nodes.List, frame: Frame) -> None:  # noqa: N802
        self._display(super().visit_List, node, frame)

    @optimizeconst
    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:  # noqa: N802
        self._display(super().visit_Dict, node, frame)

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:  # noqa: N802
        if node.ctx == "load":
            self._display(super().visit_Tuple, node, frame)
        else:
            super().visit_Tuple(node, frame)

    def _display(self, visit: Callable[..., None], node: nodes.Node, frame: Frame) -> None:
        self.write("context.display(")
        visit(node, frame)
        self.write(")")

    def _tag_origin(self, node: nodes.Node) -> int:
        # Every token of a tag, its end included, comes before the next tag begins.
        return -bisect_right(self._tag_starts, node.lineno - 1)


def unknown_filter(environment: Environment, message: str) -> Problem | None:
    """What Jinja's message about a filter or test that does not exist says; None for any other message."""
    match = _NO_SUCH.match(message)
    if match is None:
        return None
    kind, name = match.groups()
    names = environment.filters if kind == "filter" else environment.tests
    return Problem("undefined-name", f'there is no {kind} "{name}"', hint=did_you_mean(name, names))


def _problem(environment: Environment, source: SourceText, parser: OffsetParser, error: TemplateSyntaxError) -> Problem:
    offset = error.lineno - 1
    message = _AT_OFFSET.sub("", str(error.message).rstrip("."))
    if unknown := unknown_filter(environment, message):
        return replace(unknown, place=source.place(offset))
    hint = None
    open_tag = parser.open_tag
    if open_tag is not None and message.startswith("unexpected end of template"):
        offset, message = open_tag, f"{source.text[open_tag : open_tag + 2]} is never closed"
    elif open_tag is not None and "\n" in source.text[open_tag:offset]:
        hint = f"this is read as part of the tag that begins at {source.place(open_tag)}; is its end missing?"
    return Problem("jinja-syntax", message, source.place(offset), hint)


def _offset_of_code_line(generator: OffsetGenerator, error: SyntaxError) -> int:
    offset = 0
    for number, line in generator.debug_info:
        if line <= (error.lineno or 0):
            offset = number - 1
    return offset


def _first_line(error: Exception) -> str:
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    return message.partition("\n")[0]
