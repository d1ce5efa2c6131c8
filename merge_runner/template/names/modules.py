"""`modules`: what templates may use of Python's datetime, pytz, re and itertools, with dbt's names.

The clock and chance are not among it. Everything ends: lists are counted, and a pattern that may take forever is
refused.
"""

from __future__ import annotations

import importlib
import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime, time, timedelta, timezone
from functools import cache, partial
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from merge_runner.template.dbt_hints import CLOCK, HINTS
from merge_runner.template.growth import written_size
from merge_runner.template.kind import kind
from merge_runner.template.outcome import RefusedError

if TYPE_CHECKING:
    from types import ModuleType

    from merge_runner.template.limits import Limits

_MOST_STEPS = 10**9
"""Of a pattern on a text: some ten seconds."""
_MOST_CHARACTERS = 10_000
"""Of a pattern: to compile one takes some 10 microseconds for each."""
_FLAGS = {name: getattr(re, name) for name in ("I", "IGNORECASE", "M", "MULTILINE", "S", "DOTALL", "A", "ASCII")}
_LISTS: Mapping[str, Callable[..., Iterable[Any]]] = {
    name: getattr(itertools, name)
    for name in ("chain", "product", "permutations", "combinations", "combinations_with_replacement", "accumulate")
} | {"zip_longest": itertools.zip_longest, "islice": itertools.islice}


class Namespace:
    """Names of a module as attributes. One that it has in Python and not here is refused with what there is."""

    unsafe_callable = alters_data = False  # the sandbox asks every value for these

    def __init__(self, name: str, names: Mapping[str, Any]) -> None:
        self._name = name
        self._names = dict(names)

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_", "jinja_")):  # Jinja asks whatever it calls for names of its own
            raise AttributeError(name)
        if name in self._names:
            return self._names[name]
        if name in CLOCK:
            raise RefusedError("jinja-runtime", f"{self._name}.{name}: {HINTS['run_started_at']}")
        raise RefusedError("undefined-name", f"{self._name} has no {name} here: it has {', '.join(self._names)}")

    def __str__(self) -> str:
        return self._name


class _Modules(Namespace):
    """Modules by functions that make them: each is made when a template uses it, which few do."""

    def __init__(self, name: str, names: Mapping[str, Callable[[], Namespace]]) -> None:
        super().__init__(name, names)
        self._namespaces: dict[str, Namespace] = {}

    def __getattr__(self, name: str) -> Any:
        make = super().__getattr__(name)
        if name not in self._namespaces:
            self._namespaces[name] = make()
        return self._namespaces[name]


class Constructor(Namespace):
    """A class of Python: it makes values, and has some of its attributes."""

    def __init__(self, name: str, make: Callable[..., Any], names: tuple[str, ...]) -> None:
        super().__init__(name, {attribute: getattr(make, attribute) for attribute in names})
        self._make = make

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._make(*args, **kwargs)
        except (TypeError, ValueError, OverflowError) as error:
            raise RefusedError("jinja-runtime", f"{self._name}: {error}") from None


class TimeZone(ZoneInfo):
    """A time zone of Python, with the names and `localize` of pytz."""

    def localize(self, moment: datetime) -> datetime:
        """Return a time without a zone as one of this zone."""
        return moment.replace(tzinfo=self)


def modules(limits: Limits) -> Namespace:
    """Return the value of `modules` in one rendering."""
    return _Modules(
        "modules",
        {"datetime": _datetime, "pytz": _pytz, "re": partial(_re, limits), "itertools": partial(_lists, limits)},
    )


@cache
def _datetime() -> Namespace:
    dates = ("fromisoformat", "fromordinal", "fromisocalendar", "min", "max")
    return Namespace(
        "datetime",
        {
            "date": Constructor("datetime.date", date, dates),
            "datetime": Constructor("datetime.datetime", datetime, (*dates, "strptime", "combine")),
            "time": Constructor("datetime.time", time, ("fromisoformat",)),
            "timedelta": Constructor("datetime.timedelta", timedelta, ("min", "max")),
            "timezone": Constructor("datetime.timezone", timezone, ("utc",)),
        },
    )


def time_zone(name: Any) -> TimeZone:
    """Return the time zone of a name. Raises RefusedError where there is none."""
    try:
        return TimeZone(str(name))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise RefusedError("jinja-runtime", f"pytz.timezone: there is no time zone {str(name)[:100]!r}") from None


@cache
def _pytz() -> Namespace:
    return Namespace("pytz", {"timezone": time_zone, "utc": timezone.utc, "UTC": timezone.utc})


def _lists(limits: Limits) -> Namespace:
    def counted(name: str, make: Callable[..., Iterable[Any]]) -> Callable[..., list[Any]]:
        def call(*args: Any, **kwargs: Any) -> list[Any]:
            items = []
            try:
                for item in make(*args, **kwargs):
                    limits.step()
                    limits.build(written_size(item))  # each sum of texts is a longer one
                    items.append(list(item) if isinstance(item, tuple) else item)
            except (TypeError, ValueError) as error:
                raise RefusedError("jinja-runtime", f"itertools.{name}: {error}") from None
            return items

        return call

    return Namespace("itertools", {name: counted(name, make) for name, make in _LISTS.items()})


class Pattern:
    """A compiled pattern: the functions of `re` without their first argument."""

    def __init__(self, pattern: re.Pattern[str], functions: Mapping[str, Callable[..., Any]]) -> None:
        self._pattern = pattern
        self._functions = functions

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._functions:
            raise AttributeError(name)
        function = self._functions[name]
        return lambda *args, **kwargs: function(self, *args, **kwargs)


def _re(limits: Limits) -> Namespace:
    def prepared(pattern: Any, text: Any, flags: Any) -> re.Pattern[str]:
        compiled = pattern._pattern if isinstance(pattern, Pattern) else _compile(_text(pattern), _flags(flags))
        limits.work(len(_text(text)))
        if len(text) * steps(compiled.pattern, compiled.flags, len(text)) > _MOST_STEPS:
            message = f"the pattern {compiled.pattern!r} may take forever on a text of {len(text):,} characters"
            raise RefusedError("jinja-runtime", f"{message}: write it with fewer repeats")
        return compiled

    def matching(name: str) -> Callable[..., Any]:
        def call(pattern: Any, string: Any, flags: Any = 0) -> Any:
            return getattr(prepared(pattern, string, flags), name)(string)

        return call

    def sub(pattern: Any, repl: Any, string: Any, count: Any = 0, flags: Any = 0) -> str:
        compiled = prepared(pattern, string, flags)
        limits.build(len(string) * (1 + _text(repl).count("\\")) + (len(string) + 1) * len(repl))
        return str(_run_checked(lambda: compiled.sub(repl, string, count)))

    def split(pattern: Any, string: Any, maxsplit: Any = 0, flags: Any = 0) -> list[Any]:
        compiled = prepared(pattern, string, flags)
        return list(_run_checked(lambda: compiled.split(string, maxsplit)))

    def escape(text: Any) -> str:
        limits.build(2 * len(_text(text)))
        return re.escape(str(text))

    functions: dict[str, Callable[..., Any]] = {
        **{name: matching(name) for name in ("match", "search", "fullmatch", "findall")},
        "sub": sub,
        "split": split,
    }

    def make(pattern: Any, flags: Any = 0) -> Pattern:
        return Pattern(_compile(_text(pattern), _flags(flags)), functions)

    return Namespace("re", {**functions, "compile": make, "escape": escape, **{k: int(v) for k, v in _FLAGS.items()}})


def _run_checked(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except (re.error, IndexError, TypeError) as error:
        raise RefusedError("jinja-runtime", f"re: {error}") from None


def _compile(pattern: str, flags: int) -> re.Pattern[str]:
    if len(pattern) > _MOST_CHARACTERS:
        raise RefusedError("jinja-runtime", f"re: a pattern has at most {_MOST_CHARACTERS:,} characters")
    try:
        return re.compile(pattern, flags)
    except (re.error, ValueError, OverflowError, RecursionError) as error:
        raise RefusedError("jinja-runtime", f"re: {pattern!r} is no pattern: {error}") from None


def _flags(value: Any) -> int:
    if not isinstance(value, int) or value & ~sum({int(flag) for flag in _FLAGS.values()}):
        raise RefusedError("jinja-runtime", f"re: flags are {', '.join(_FLAGS)}")
    return value


def steps(pattern: str, flags: int, size: int) -> int:
    """Return about how many steps a pattern takes at one place of a text of `size` characters, at most.

    More than any limit where a repeat holds repeats or alternatives: the engine may try every way to divide a text
    among them.
    """
    parser = _parser()
    return _sequence(parser.parse(pattern, flags & ~int(re.UNICODE)), size + 1)


def _parser() -> ModuleType:
    try:
        return importlib.import_module("re._parser")
    except ImportError:  # Python 3.10
        return importlib.import_module("sre_parse")


def _sequence(items: Iterable[Any], size: int) -> int:
    ways = 1
    for operator, argument in items:
        ways = min(ways * _item(str(operator), argument, size), _MOST_STEPS + 1)
    return ways


def _item(operator: str, argument: Any, size: int) -> int:
    """Return in how many ways one item of a pattern may match at a place."""
    if operator in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, inside = argument
        ways = _sequence(inside, size)
        if most == 1:
            return 1 + ways
        return min(int(most), size) - min(least, size) + 1 if ways == 1 else _MOST_STEPS + 1
    if operator == "BRANCH":
        return sum(_sequence(branch, size) for branch in argument[1])
    if operator == "SUBPATTERN":
        return _sequence(argument[-1], size)
    if operator in ("ASSERT", "ASSERT_NOT"):
        return _sequence(argument[1], size)
    if operator == "ATOMIC_GROUP":
        return _sequence(argument, size)
    if operator == "GROUPREF_EXISTS":
        return sum(_sequence(branch, size) for branch in argument[1:] if branch is not None)
    return size if operator == "GROUPREF" else 1


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise RefusedError("jinja-runtime", f"re takes a text, not a value of type {kind(value)}")
    return value
