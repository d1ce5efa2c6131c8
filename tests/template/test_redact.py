"""Secrets in messages, logs and artifacts."""

from __future__ import annotations

import base64
import html
import json
import re
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from merge_runner.template.literal import literal
from merge_runner.template.redact import java_pattern, redact, redact_data, same_but_hidden

SECRET = 'hunter2\'s "<pass>" & é/+='


@pytest.mark.parametrize(
    ("text", "secrets", "expected"),
    [
        ("token hunter2!", {"hunter2"}, "token *****!"),
        ("prefixhunter2suffix", {"hunter2"}, "prefix*****suffix"),
        ("a hunter22", {"hunter2", "hunter22"}, "a *****"),
        (r"KeyError: 'a\nb'", {"a\nb"}, "KeyError: '*****'"),
        ("a cat says 'a'", {"a"}, "a cat says '*****'"),
        ("a device of dev, dev_1", {"dev"}, "a device of *****, *****_1"),
        ('"" is empty', {""}, '"" is empty'),
        ("nothing", set(), "nothing"),
        ("[file:/data?sig=correct horse b...]", {"correct horse battery staple"}, "[file:/data?sig=*****...]"),
        ("correct horses", {"correct horse battery staple"}, "correct horses"),
        ("line: MIIEvQIBADANBgkqhkiG9w0B", {"BEGIN\nMIIEvQIBADANBgkqhkiG9w0B\nEND"}, "line: *****"),
    ],
)
def test_redact(text: str, secrets: set[str], expected: str) -> None:
    assert redact(text, secrets) == expected
    assert re.sub(java_pattern(secrets), "*****", text) == expected


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        repr(SECRET),
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        literal(SECRET),
        html.escape(SECRET),
        html.escape(SECRET, quote=False),
        quote(SECRET),
        quote(SECRET, safe=""),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
    ],
)
def test_a_secret_is_hidden_however_it_is_written(form: str) -> None:
    shown = redact(f"<< {form} >>", {SECRET})
    assert "*****" in shown
    assert len(shown) <= len("<<  >>*****") + 4  # quotes around it, `=` behind base64


@given(st.text(min_size=1), st.text(min_size=3), st.text())
def test_no_text_shows_a_secret(before: str, secret: str, after: str) -> None:
    assume(secret not in "*****")
    shown = redact(f"{before} {secret} {after}", {secret})
    alone = rf"(?<![A-Za-z0-9]){re.escape(secret)}(?![A-Za-z0-9])"
    assert not re.search(alone, shown) or secret in redact("", {secret}) or "*" in secret


def test_data_keeps_its_keys_and_the_words_of_this_program() -> None:
    data = {"status": "success", "message": "success of hunter2", "success": ["hunter2", {"n": 1, "t": ("hunter2",)}]}
    assert redact_data(data, {"hunter2", "success"}) == {
        "status": "success",
        "message": "***** of *****",
        "success": ["*****", {"n": 1, "t": ["*****"]}],
    }
    assert redact_data(data, ()) is data


@pytest.mark.parametrize(
    ("shown", "value", "same"),
    [
        ({"a": ["x *****", 1]}, {"a": ["x secret", 1]}, True),
        ({"a": ["x *****", 1]}, {"a": ["y secret", 1]}, False),
        ({"a": "*****"}, {"a": 1}, False),
        ({"a": "*****"}, {"a": "1", "b": 2}, False),
        (["*****"], ["1", "2"], False),
        ("*****-*****", "a-b\nc", True),
        ("aa*****aa", "aaa", False),
        ("*****b*****" * 5_000, "b" * 4_999, False),
        ("x", "x", True),
    ],
)
def test_what_is_hidden_stands_for_any_text(shown: object, value: object, same: bool) -> None:
    assert same_but_hidden(shown, value) is same


def test_a_pattern_for_java_is_ascii_and_fits_into_the_environment() -> None:
    assert java_pattern(()) == "(?!)"
    assert java_pattern({"é🙂 {}$|(x)"}).isascii()
    assert not set(java_pattern({"${a}"})) & set("${}")
    assert len(java_pattern({"x" * 40_000, "y" * 40_000, "hunter2"})) <= 101_000
    assert re.sub(java_pattern({"x" * 40_000, "hunter2"}), "-", "hunter2") == "-"
