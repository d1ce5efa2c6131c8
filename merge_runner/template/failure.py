"""What went wrong in a rendering, in words: from an exception or an undefined value to a problem."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from types import TracebackType
from typing import Any

from jinja2 import Environment, Template
from jinja2.exceptions import SecurityError, TemplateRuntimeError, UndefinedError
from jinja2.runtime import Macro
from jinja2.sandbox import MAX_RANGE

from merge_runner.errors import Problem, did_you_mean
from merge_runner.relation import Relation
from merge_runner.template.current_rendering import MacroPackage, OwnMacros
from merge_runner.template.dbt_hints import ATTRIBUTE_HINTS, ENGINE_HINT, HINTS, RELATION_HINTS, TARGET_HINTS
from merge_runner.template.environment import RELATION_ATTRIBUTES
from merge_runner.template.jinja_compiler import unknown_filter
from merge_runner.template.kind import kind
from merge_runner.template.limits import MAX_DEPTH, LimitError
from merge_runner.template.names.built_ins import InlineConfig
from merge_runner.template.names.dbt_names import Adapter
from merge_runner.template.outcome import RefusedError
from merge_runner.template.undefined import ReportedUndefined
from merge_runner.text import SourceText


def failure(
    error: Exception,
    environment: Environment,
    callee: Any = None,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
) -> Problem:
    """What an exception says to the author; the place is still to add. `callee` was called when it was raised."""
    message = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
    if isinstance(error, RefusedError):
        problem = Problem(error.code, error.message, hint=error.hint)
    elif isinstance(error, LimitError):
        problem = Problem("render-limit", message)
    elif isinstance(error, OverflowError) and "MAX_RANGE" in message:
        problem = Problem("render-limit", f"range gives more than {MAX_RANGE:,} numbers")
    elif isinstance(error, RecursionError):
        message = f"macros call each other without an end (more than {MAX_DEPTH} deep)"
        problem = Problem("recursion", message, hint="give the innermost call a condition")
    elif isinstance(error, SecurityError):
        problem = Problem("jinja-runtime", f"not allowed in the sandbox: {message}")
    elif isinstance(error, UndefinedError):
        problem = Problem("undefined-name", message)
    elif isinstance(error, TemplateRuntimeError) and (unknown := unknown_filter(environment, message)):
        problem = unknown
    elif isinstance(error, TypeError) and isinstance(callee, Macro) and "special caller argument" in message:
        problem = Problem("jinja-runtime", f"the macro {callee.name} has no use for a call block: it has no caller()")
    elif isinstance(error, TypeError) and (mismatch := _mismatch(callee, args, kwargs or {})):
        problem = Problem("jinja-runtime", mismatch)
    else:
        # The message of a KeyError is only the key.
        problem = Problem("jinja-runtime", message if " " in message else f"{type(error).__name__}: {message}")
    return problem


def innermost(traceback: TracebackType | None) -> tuple[str, int] | None:
    """The file and offset of the template code that was running deepest in a traceback; None without any."""
    innermost_code = None
    while traceback is not None:
        template = traceback.tb_frame.f_globals.get("__jinja_template__")
        if isinstance(template, Template) and template.name is not None:
            # Both numbers of a pair grow; the first is the offset plus one (see compiler.py).
            before = [number for number, line in template.debug_info if line <= traceback.tb_lineno]
            if before:
                innermost_code = template.name, before[-1] - 1
        traceback = traceback.tb_next
    return innermost_code


def undefined_use(undefined: ReportedUndefined, source: SourceText, offset: int, names: Collection[str]) -> Problem:
    """The use of an undefined name, attribute or key; `offset` is the name's, or the dot's or bracket's before it."""
    name, owner = undefined.name, undefined.owner
    if name is not None and undefined.variable is not None:
        place = source.place(offset, offset + len(name))
        return Problem("undefined-name", f'"{name}" is not defined', place, _hint_for_name(name, source, names))
    start = source.text.find(name, offset) if name is not None else -1
    place = source.place(start, start + len(name)) if name is not None and start >= 0 else source.place(offset)
    if name is None:
        return Problem("undefined-name", f"a value of type {kind(owner)} has no element {undefined.key!r}", place)
    if isinstance(owner, Relation):
        allowed = sorted(RELATION_ATTRIBUTES)
        hint = RELATION_HINTS.get(name) or did_you_mean(name, allowed)
        return Problem("undefined-name", f'a table has no "{name}"', place, hint)
    if undefined.is_forbidden:
        message = f'"{name}" of a value of type {kind(owner)} is not allowed in the sandbox'
        return Problem("jinja-runtime", message, place)
    if isinstance(owner, Mapping):
        keys = [key for key in owner if isinstance(key, str)]
        hint = TARGET_HINTS.get(name) if "profile_name" in keys else None
        hint = hint or did_you_mean(name, keys)
        return Problem("undefined-name", f'there is no key "{name}"', place, hint)
    if isinstance(owner, Adapter):
        return Problem("undefined-name", f'adapter has no "{name}" here', place, ENGINE_HINT)
    if isinstance(owner, MacroPackage):
        hint = did_you_mean(name, dir(owner))
        return Problem("undefined-name", f'the package {owner.name} has no macro "{name}"', place, hint)
    if isinstance(owner, OwnMacros):
        return Problem("undefined-name", f'the project has no macro "{name}"', place, did_you_mean(name, dir(owner)))
    if isinstance(owner, InlineConfig):
        message = f'config has no "{name}" here'
        return Problem("undefined-name", message, place, ATTRIBUTE_HINTS.get(name) or f"write config.get('{name}')")
    if name in ATTRIBUTE_HINTS:
        message = f'a value of type {kind(owner)} has no "{name}"'
        return Problem("undefined-name", message, place, ATTRIBUTE_HINTS[name])
    attributes = [attribute for attribute in dir(owner) if not attribute.startswith("_")]
    message = f'a value of type {kind(owner)} has no "{name}"'
    return Problem("undefined-name", message, place, did_you_mean(name, attributes))


def _hint_for_name(name: str, source: SourceText, names: Collection[str]) -> str | None:
    if name == "this":
        return "only a model has its own table"
    if name in HINTS:
        return HINTS[name]
    if name in names:
        return f'"{name}" is set elsewhere in {source.path}: what a loop or macro sets ends with it; use namespace()'
    return did_you_mean(name, names)


def _mismatch(callee: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str | None:
    """How the arguments fail to fit what was called; None where they fit, and the TypeError came from inside."""
    if callee is None:
        return None
    if not callable(callee):
        return f"a value of type {kind(callee)} cannot be called"
    try:
        inspect.signature(callee).bind(*args, **kwargs)
    except (TypeError, ValueError) as error:
        return f"{getattr(callee, '__name__', 'the call').rstrip('_')}: {error}"
    return None
