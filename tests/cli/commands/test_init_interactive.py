"""`init --interactive`: what it asks for, and that it asks for nothing without."""

import pytest


@pytest.mark.parametrize(
    ("arguments", "answers", "macro"),
    [
        ([], b"shop\nscd2\n", "merge_patterns.scd2("),
        (["shop"], b"nothing\nupsert\n", "merge_patterns.upsert("),
        (["shop"], b"\n", None),
        (["shop", "--pattern", "cdc"], b"", "merge_patterns.cdc("),
    ],
)
def test_what_is_asked(arguments, answers, macro, call, tmp_path):
    done = call("init", *arguments, "--interactive", stdin=answers)
    assert done.returncode == 0, done.stderr
    assert all(line.startswith("shop/") for line in done.stdout.splitlines())
    assert ("Name of the project" in done.stderr) is (not arguments)
    assert ("Pattern of its MERGE" in done.stderr) is ("--pattern" not in arguments)
    texts = "".join(file.read_text() for file in (tmp_path / "shop/models").rglob("*.sql"))
    assert macro in texts if macro else "merge_patterns" not in texts
    assert call("parse", cwd=tmp_path / "shop").returncode == 0


def test_nothing_is_asked_without_it(call, tmp_path):
    done = call("init", stdin=b"shop\n")
    assert (done.returncode, "name the project" in done.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []
