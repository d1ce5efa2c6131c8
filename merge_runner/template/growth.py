"""How large an operation, a method or a filter would make its result, computed before it takes the memory.

Sizes are characters of a text or items of a list. What cannot grow much beyond its arguments counts nothing.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from string import Formatter
from typing import Any

from merge_runner.template.limits import MAX_CHARACTERS, LimitError

MAX_BITS = 100_000
"""Of a whole number that an operation makes."""

_SIZED = (str, bytes, list, tuple)
_NESTING = (list, tuple, dict, set)
_SLOW = 50
_SLOW_FILTERS = frozenset(
    {"batch", "dictsort", "forceescape", "groupby", "max", "min", "pprint", "slice", "sort", "striptags", "title"}
    | {"tojson", "unique", "urlencode", "urlize", "wordcount", "wordwrap", "xmlattr"}
)
"""Some 5 microseconds for each character or item, and not a tenth of one."""
_BACKWARDS = frozenset({"rfind", "rindex", "rsplit", "rpartition"})
_STRIPS = frozenset({"strip", "lstrip", "rstrip"})
_SHORT = 100
"""Characters that Python looks for at each place of a text in next to no time."""
_ENCODINGS = frozenset({"ascii", "iso8859-1", "utf-8", "utf-16", "utf-16-be", "utf-16-le", "utf-32", "cp1252"})
"""Those that take a time that grows with the text alone: punycode takes its square."""
_LONGEST_NAME = 100
"""Characters of the name of a character, which `namereplace` writes."""
_MOST_EQUAL_HASHES = 5_000
"""Keys that are not equal and have one hash: each is compared with all others, in one call of Python's own code."""
_PARENTHESIS = re.compile(r"[()]")
_WIDTHS = re.compile(r"[-+ #0]*(\*|\d*)(?:\.(\*|\d*))?")
_NUMBER = re.compile(r"\d+")


def operation_size(operator: str, left: Any, right: Any) -> int:
    """The size of `left operator right`. Raises LimitError for a number with too many bits."""
    if isinstance(left, int) and isinstance(right, int):
        if operator == "**":
            _check_bits("power", left.bit_length() * max(right, 0))
        elif operator == "*":
            _check_bits("product", left.bit_length() + right.bit_length())
        elif operator in ("//", "%"):  # a literal may have any number of digits
            _check_bits("division", left.bit_length())
    elif operator == "+" and isinstance(left, _SIZED) and isinstance(right, _SIZED):
        return _nested(left) + _nested(right)
    elif operator == "*" and isinstance(left, _SIZED) and isinstance(right, int):
        return _nested(left) * max(right, 0)
    elif operator == "*" and isinstance(right, _SIZED) and isinstance(left, int):
        return _nested(right) * max(left, 0)
    elif operator == "%" and isinstance(left, str | bytes):
        return _percent(left if isinstance(left, str) else left.decode("latin-1"), right)
    return 0


def call_size(callee: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> int:
    """The size of what a method of a text, number or list gives, or makes of its object."""
    function = getattr(callee, "__wrapped__", callee)  # the sandbox wraps str.format
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    arguments = [*args, *kwargs.values()]
    if callee is dict or (isinstance(owner, dict) and name == "update"):
        _check_hashes(args[0] if args and isinstance(args[0], Mapping) else (pair[0] for pair in (*args, ())[0]))
    if isinstance(owner, str | bytes):
        return _text_method(owner, name, arguments)
    if isinstance(owner, int) and name == "to_bytes":
        return _largest(arguments)
    if owner is int and name == "from_bytes":
        _check_bits("number", 8 * max(map(_length, arguments), default=0))
    if owner is dict and name == "fromkeys":
        _check_hashes(arguments[0] if arguments else ())
        return _length(arguments[0]) * max(map(_nested, arguments[1:]), default=1) if arguments else 0
    if isinstance(owner, list) and name in ("sort", "count", "index", "remove"):
        return written_size(owner)
    if isinstance(owner, list) and name == "extend":
        return len(owner) + sum(_nested(argument) for argument in arguments if hasattr(argument, "__len__"))
    if isinstance(owner, list | dict | set):
        return sum(map(_nested, arguments))
    return 0


def call_work(callee: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> int:
    """How much a method of a text or list reads of its object. Raises LimitError for what may take its square."""
    function = getattr(callee, "__wrapped__", callee)
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if not isinstance(owner, _SIZED):
        return 0
    if name in _BACKWARDS or name in _STRIPS:
        return len(owner) * _searches([*args, *kwargs.values()])
    if name in ("encode", "decode"):
        for encoding in (*args[:1], kwargs.get("encoding")):
            _check_encoding(encoding)
    return len(owner)


def filter_work(name: str, value: Any, args: tuple[Any, ...] = ()) -> int:
    """How much a filter reads of its value: what takes it microseconds each counts as many."""
    if not isinstance(value, (*_SIZED, dict)):
        return 0
    if name == "trim":
        return len(value) * _searches(args)
    return len(value) * (_SLOW if name in _SLOW_FILTERS else 1)


def test_work(args: tuple[Any, ...]) -> int:
    """How much a test reads of what its value is compared with, or looked for in."""
    return 1 + sum(map(_length, args))


def _nested(value: Any) -> int:
    """The size of a text; of a list with all that is in it, since to compare it goes through that."""
    if isinstance(value, list | tuple) and not any(isinstance(item, _NESTING) for item in value):
        return len(value)
    return len(value) if isinstance(value, str | bytes) else written_size(value)


def written_size(value: Any) -> int:
    """About how many characters a value is as text: a list that holds one list twice is written with both."""
    return _written_size(value, {})


def _written_size(value: Any, sizes: dict[int, int]) -> int:
    if isinstance(value, str | bytes):
        return len(value)
    if not isinstance(value, dict | list | tuple | set | frozenset):
        return 1
    if id(value) not in sizes:
        sizes[id(value)] = 1  # for one that holds itself, which Python writes as [...]
        inside = chain(value, value.values()) if isinstance(value, dict) else value
        sizes[id(value)] = min(2 + sum(_written_size(item, sizes) + 2 for item in inside), MAX_CHARACTERS + 1)
    return sizes[id(value)]


def _text_method(owner: str | bytes, name: str, arguments: list[Any]) -> int:
    if name in ("center", "ljust", "rjust", "zfill"):
        return _largest(arguments)
    if name == "expandtabs":
        return len(owner) + _tabs(owner) * _largest(arguments)
    if name == "replace" and len(arguments) >= 2:
        return _replace_size(owner, arguments[0], arguments[1])
    if name == "join" and arguments and isinstance(arguments[0], list | tuple):
        return _join_size(arguments[0], owner)
    if name == "translate" and arguments and isinstance(arguments[0], dict):
        return len(owner) * max(map(written_size, arguments[0].values()), default=1)
    if name in ("format", "format_map") and isinstance(owner, str):
        return _format_size(owner, arguments)
    if name == "encode" and len(arguments) > 1:  # the errors, which may be written
        return len(owner) * _LONGEST_NAME
    return 0


def _length(value: Any) -> int:
    return len(value) if isinstance(value, (*_SIZED, dict, range)) else 0


def _searches(values: Iterable[Any]) -> int:
    """How often a text is gone through to look for others at each of its places."""
    return 1 + sum(map(_length, values)) // _SHORT


def _check_encoding(name: Any) -> None:
    try:
        is_fast = not isinstance(name, str) or codecs.lookup(name).name in _ENCODINGS
    except (LookupError, ValueError):
        is_fast = True  # Python says that there is none
    if not is_fast:
        raise LimitError(f"the encoding {name} takes too long: {', '.join(sorted(_ENCODINGS))} do not")


def _check_hashes(keys: Iterable[Any]) -> None:
    """Raise LimitError for keys of which too many have one hash."""
    first: dict[int, Any] = {}
    equal = 0
    with suppress(TypeError, IndexError, KeyError):  # the call says what is wrong with its keys
        for key in keys:
            equal += first.setdefault(hash(key), key) != key
    if equal > _MOST_EQUAL_HASHES:
        raise LimitError(f"a dict has more than {_MOST_EQUAL_HASHES:,} keys with one hash")


def _tabs(text: str | bytes) -> int:
    return text.count("\t") if isinstance(text, str) else text.count(b"\t")


def _percent(text: str, values: Any) -> int:
    size = len(text)
    for start in _conversions(text):
        widths = _WIDTHS.match(text, start)
        for word in widths.groups("") if widths is not None else ():
            size += _largest([values]) if word == "*" else int(word[:20] or 0)
    return size + written_size(values)


def _conversions(text: str) -> Iterator[int]:
    """Yield where the flags of each conversion begin: after `%` and the name, which may hold parentheses."""
    at = 0
    while at := text.find("%", at) + 1:
        depth = 0
        for parenthesis in _PARENTHESIS.finditer(text, at) if text.startswith("(", at) else ():
            depth += 1 if parenthesis[0] == "(" else -1
            if depth == 0:
                at = parenthesis.end()
                break
        if depth:
            return  # Python refuses a name without an end
        yield at


def _format_size(text: str, values: list[Any]) -> int:
    size, largest, written_length = len(text), _largest([values]), written_size(values)
    try:
        for _, field, spec, _ in Formatter().parse(text):
            size += largest if spec and "{" in spec else 0
            size += sum(int(number[:20]) for number in _NUMBER.findall(spec or ""))
            size += written_length if field is not None else 0
    except ValueError:
        return 0  # the call says what is wrong with it
    return size


def _join_size(values: Iterable[Any], between: Any) -> int:
    sizes = [written_size(value) for value in values]
    return sum(sizes) + written_size(between) * max(len(sizes) - 1, 0)


def _replace_size(text: Any, old: Any, new: Any) -> int:
    if not isinstance(old, type(text)) or not isinstance(new, type(text)):
        return 0
    return len(text) + int(text.count(old)) * max(len(new) - len(old), 0)


def _largest(values: Any) -> int:
    """The largest whole number in what a call was given, at least 0."""
    if isinstance(values, dict):
        values = list(values.values())
    largest = 0
    for value in values:
        if isinstance(value, int):
            largest = max(largest, value)
        elif isinstance(value, list | tuple | dict) and value is not values:
            largest = max(largest, _largest(value))
    return largest


def _check_bits(subject: str, bits: int) -> None:
    if bits > MAX_BITS:
        raise LimitError(f"a {subject} of more than {MAX_BITS:,} bits")


def _batch(_value: Any, linecount: Any, fill_with: Any = None) -> int:
    return 0 if fill_with is None else _largest([linecount])


def _center(value: Any, width: Any = 80) -> int:
    return written_size(value) + _largest([width])


def _format(value: Any, *args: Any, **kwargs: Any) -> int:
    return _percent(value, kwargs or args) if isinstance(value, str) else 0


def _indent(value: Any, width: Any = 4, *_: Any, **__: Any) -> int:
    if not isinstance(value, str):
        return 0
    step = len(width) if isinstance(width, str) else _largest([width])
    return len(value) + (value.count("\n") + 1) * step


def _int(value: Any, *_: Any, **__: Any) -> int:
    _check_bits("number", _length(value))
    return 0


def _join(value: Any, d: Any = "", attribute: Any = None) -> int:
    return _join_size(value, d) if attribute is None else written_size(d) * len(value)


def _replace(value: Any, old: Any, new: Any, count: Any = None) -> int:
    return _replace_size(str(value), str(old), str(new))


def _round(value: Any, precision: Any = 0, method: Any = "common") -> int:
    if isinstance(precision, int):
        _check_bits("rounding", 4 * abs(precision))  # it computes that power of 10
    return 0


def _sum(value: Any, attribute: Any = None, start: Any = 0) -> int:
    # Each step of a sum of lists makes another list.
    return sum(len(item) for item in value if isinstance(item, _SIZED)) * len(value) if attribute is None else 0


def _tojson(value: Any, indent: Any = None) -> int:
    size = written_size(value)
    return size + size * _largest([indent])


def _wordwrap(
    value: Any, width: Any = 79, break_long_words: Any = True, wrapstring: Any = None, *_: Any, **__: Any
) -> int:
    if not isinstance(value, str):
        return 0
    # A long word is cut again and again, and each rest of it copied.
    copied = max(map(len, value.split()), default=0) ** 2 // (_SHORT * max(_largest([width]), 1))
    return copied + len(value) * (1 + _length(wrapstring))


FILTER_SIZES: Mapping[str, Callable[..., int]] = {
    "batch": _batch,
    "center": _center,
    "format": _format,
    "dictsort": lambda value, *_, **__: written_size(value),
    "groupby": lambda value, *_, **__: written_size(value),
    "indent": _indent,
    "int": _int,
    "join": _join,
    "max": lambda value, *_, **__: written_size(value),
    "min": lambda value, *_, **__: written_size(value),
    "replace": _replace,
    "slice": lambda _value, slices, fill_with=None: _largest([slices]),
    "sort": lambda value, *_, **__: written_size(value),
    "string": written_size,
    "pprint": written_size,
    "round": _round,
    "sum": _sum,
    "tojson": _tojson,
    "wordwrap": _wordwrap,
}
"""By the name of a filter the size of its result, from the same arguments."""
