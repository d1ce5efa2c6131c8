"""Secrets in messages."""

from __future__ import annotations

import pytest

from merge_runner.template.redact import redact


@pytest.mark.parametrize(
    ("text", "secrets", "expected"),
    [
        ("token hunter2!", {"hunter2"}, "token *****!"),
        ("a hunter22", {"hunter2", "hunter22"}, "a *****"),
        (r"KeyError: 'a\nb'", {"a\nb"}, "KeyError: '*****'"),
        ("a cat says 'a'", {"a"}, "a cat says '*****'"),
        ('"" is empty', {""}, '"" is empty'),
        ("nothing", set(), "nothing"),
    ],
)
def test_redact(text: str, secrets: set[str], expected: str) -> None:
    assert redact(text, secrets) == expected
