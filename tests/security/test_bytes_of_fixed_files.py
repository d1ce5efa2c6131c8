"""`lint --fix` changes no byte that no fix touches; a file that is not UTF-8 stays as it is."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from merge_runner.lint.finding import Edit, Fix
from merge_runner.lint.run.fixed_files import fix
from merge_runner.text import Place

PLACE = Place("a.sql", 1, 1, 1, 6)


class _Messages:
    def __init__(self) -> None:
        self.texts: list[str] = []

    def say(self, text: str, _level: str = "info") -> None:
        self.texts.append(text)


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        (b"merge -- \xe4\xff\n", "merge -- \ufffd\ufffd\n", None),
        (b"merge -- \xc3\n", "merge -- \ufffd\n", None),
        ("merge -- ü\r\n".encode(), "merge -- ü\n", "MERGE -- ü\r\n".encode()),
        ("\ufeffmerge -- ü".encode(), "merge -- ü", "\ufeffMERGE -- ü".encode()),
        (b"merge\r\n\n\r\n", "merge\n\n\n", b"MERGE\r\n\n\r\n"),
        (b"merge \xef\xbf\xbd\n", "merge \ufffd\n", b"MERGE \xef\xbf\xbd\n"),
    ],
)
def test_a_fix_changes_its_own_bytes_alone(tmp_path: Path, before: bytes, text: str, after: bytes | None) -> None:
    file = tmp_path / "a.sql"
    file.write_bytes(before)
    file.chmod(0o640)
    finding = SimpleNamespace(place=PLACE, fix=Fix("fix", (Edit(PLACE, "MERGE"),), "safe"))
    messages = _Messages()
    fix({"a.sql": file}, SimpleNamespace(findings=[finding], sources={"a.sql": text}), messages, unsafe=False)
    assert file.read_bytes() == (before if after is None else after)
    assert messages.texts == ["a.sql: not fixed, it is not UTF-8" if after is None else "a.sql: 1 fix applied"]
    assert file.stat().st_mode & 0o777 == 0o640
