"""An undefined name as a template's value: every use of it is reported, and rendering goes on to find the next."""

# mypy: disable-error-code="override,assignment"
# Jinja types every operation of an undefined value as one that never returns.

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from jinja2 import StrictUndefined
from jinja2.exceptions import TemplateRuntimeError, UndefinedError
from jinja2.utils import missing

Report = Callable[["ReportedUndefined"], None]


class ReportedUndefined(StrictUndefined):
    """As strict as StrictUndefined: only `is defined` and `default` may touch it.

    With a `report`, a use is reported there and answered with something harmless, so that one rendering finds every
    undefined name; without one it raises, as StrictUndefined does.
    """

    __slots__ = ("_report",)

    def __init__(
        self,
        hint: str | None = None,
        obj: Any = missing,
        name: str | None = None,
        exc: type[TemplateRuntimeError] = UndefinedError,
    ) -> None:
        super().__init__(hint, obj, name, exc)
        self._report: Report | None = None

    def report_to(self, report: Report) -> ReportedUndefined:
        """This value, reporting its uses; the first report that it is given stays."""
        if self._report is None:
            self._report = report
        return self

    def used(self) -> ReportedUndefined:
        """Says that a template used the value."""
        if self._report is None:
            raise self._undefined_exception(self._undefined_message)
        self._report(self)
        return self

    @property
    def name(self) -> str | None:
        """The name or key that was looked up, where it is a text."""
        return self._undefined_name if isinstance(self._undefined_name, str) else None

    @property
    def variable(self) -> str | None:
        """The name, where it is that of a variable and of no attribute or key."""
        return self.name if self._undefined_obj is missing else None

    @property
    def key(self) -> Any:
        """What was looked up."""
        return self._undefined_name

    @property
    def owner(self) -> Any:
        """The value that has no such attribute or key; Jinja's `missing` for a plain name."""
        return self._undefined_obj

    @property
    def is_forbidden(self) -> bool:
        """Whether the sandbox refused it, and nothing is missing."""
        return self._undefined_exception is not UndefinedError

    def __getattr__(self, name: str) -> Any:
        # Python probes objects for dunder methods; those are no uses.
        if name[:2] == "__":
            raise AttributeError(name)
        return self.used()

    def _answer_self(self, *_: Any, **__: Any) -> ReportedUndefined:
        return self.used()

    def _answer_false(self, *_: Any) -> bool:
        self.used()
        return False

    def _answer_zero(self) -> int:
        self.used()
        return 0

    def __str__(self) -> str:
        self.used()
        return ""

    def __iter__(self) -> Iterator[Any]:
        self.used()
        return iter(())

    def __repr__(self) -> str:
        # A list or dict that is put out writes its items so.
        return str(self)

    def __float__(self) -> float:
        self.used()
        return 0.0

    def __hash__(self) -> int:
        self.used()
        return id(self)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _answer_self
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _answer_self
    __pow__ = __rpow__ = __pos__ = __neg__ = __call__ = __getitem__ = _answer_self
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __contains__ = _answer_false
    __int__ = __len__ = __index__ = _answer_zero


def use_undefined(values: Iterable[Any]) -> ReportedUndefined | None:
    """Say that the undefined ones of `values` are used; return the first of them, None where all are defined."""
    undefined = [value.used() for value in values if isinstance(value, ReportedUndefined)]
    return undefined[0] if undefined else None
