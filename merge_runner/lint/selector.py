"""The words that mean rules: a code, a name, the beginning of codes (`P`, `C0`), or ALL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from merge_runner.errors import nearest
from merge_runner.lint.rule import Rule

_EXACT = 100  # more than a code has letters


def weight(word: str, rule: Rule) -> int | None:
    """How closely `word` means the rule, in any case of letters; None: not at all.

    A code or a name is closer than the beginning of a code, a longer beginning is closer than a shorter one, and ALL
    is the farthest.
    """
    upper = word.upper()
    if rule.code == upper or rule.name == word.lower():
        return _EXACT
    if upper == "ALL":
        return 0
    return len(word) if word and rule.code.startswith(upper) else None


def match_rules(word: str, rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules that `word` means; empty for a word that is unknown."""
    return tuple(rule for rule in rules if weight(word, rule) is not None)


def closest(words: Iterable[str], rule: Rule) -> int:
    """The weight of the word that means the rule most closely; -1 where none does."""
    return max((value for word in words if (value := weight(word, rule)) is not None), default=-1)


def suggestion(word: str, rules: Sequence[Rule]) -> str:
    """What to do about a word that means no rule."""
    code = nearest(word.upper(), [rule.code for rule in rules])
    name = nearest(word.lower(), [rule.name for rule in rules])
    nearest_word = name if "-" in word or (name and not code) else code
    return f'did you mean "{nearest_word}"?' if nearest_word else "`merge-runner rule` lists the rules"
