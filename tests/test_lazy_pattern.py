"""A pattern that is compiled late is what `re` makes of the text."""

import re

import pytest

from merge_runner.lazy_pattern import pattern

USES = {
    "match": lambda made: made.match("ab").group(),
    "fullmatch": lambda made: made.fullmatch("AB"),
    "search": lambda made: made.search("xab", 1).span(),
    "sub": lambda made: made.sub("-", "abAB"),
    "subn": lambda made: made.subn("-", "abAB"),
    "split": lambda made: made.split("1ab2"),
    "findall": lambda made: made.findall("abAB"),
    "finditer": lambda made: [each.span("b") for each in made.finditer("abAB")],
    "pattern": lambda made: made.pattern,
    "flags": lambda made: made.flags,
    "groups": lambda made: (made.groups, dict(made.groupindex)),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("flags", [0, re.IGNORECASE])
def test_each_use_gives_what_the_compiled_pattern_gives(use, flags):
    made, theirs = pattern("a(?P<b>b)", flags), re.compile("a(?P<b>b)", flags)
    expected = USES[use](theirs)
    if isinstance(expected, re.Match):
        expected = expected.span()
    for _ in range(2):
        found = USES[use](made)
        assert (found.span() if isinstance(found, re.Match) else found) == expected


def test_a_wrong_text_is_an_error_with_the_first_use():
    made = pattern("(")
    with pytest.raises(re.error):
        made.match("")
    with pytest.raises(AttributeError):
        made.other  # noqa: B018
