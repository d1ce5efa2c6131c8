"""Which rules count in which file and how much: what the settings and the command line select."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from merge_runner.errors import Problems
from merge_runner.graph.selection.methods.paths import holds_path
from merge_runner.lint.finding import SEVERITIES, Severity
from merge_runner.lint.registry import rules
from merge_runner.lint.report import Report
from merge_runner.lint.rule import Rule, RuleOptions
from merge_runner.lint.selector import closest, match_rules, suggestion, weight
from merge_runner.project.syntax.places import NoPlaces
from merge_runner.project.syntax.validate import validate

if TYPE_CHECKING:
    from merge_runner.project.schema.settings import LintSettings
    from merge_runner.project.syntax.places import KeyPath
    from merge_runner.project.syntax.toml_tree import TomlTree

FailOn = Literal["error", "warning", "info", "never"]


@dataclass(frozen=True)
class RuleSelection:
    """The rules that count.

    A rule is selected where the word of `select` that means it is closer than that of `ignore`; at equal weight it is
    ignored. The command line takes precedence over the settings: its rules replace `select` and `ignore`, what it
    ignores is ignored. `per_path` holds in any case; a pattern without a slash fits a name in any folder, and a pattern
    that fits a folder counts for everything below it.
    """

    select: tuple[str, ...] = ("ALL",)
    ignore: tuple[str, ...] = ()
    also_ignore: tuple[str, ...] = ()
    per_path: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    severities: Mapping[str, Severity] = field(default_factory=dict)
    rule_options: Mapping[str, RuleOptions] = field(default_factory=dict)
    """The options of rules that the settings set, by code: instances of `Rule.options`."""

    @classmethod
    def from_settings(
        cls,
        lint: LintSettings,
        places: TomlTree | None = None,
        *,
        rules: Sequence[str] = (),
        ignore: Sequence[str] = (),
        all_rules: Sequence[Rule] | None = None,
    ) -> RuleSelection:
        """The selection of [tool.merge-runner.lint], with the command line's `rules` and `ignore` above it.

        `places` says where the settings are written. Raises ProblemsError with an `unknown-rule` for each word that
        means no rule of `all_rules` (by default all there are), and with every option that its rule does not take.
        """
        all_rules = _all() if all_rules is None else all_rules
        problems = Problems()
        _check(lint, places, (*rules, *ignore), all_rules, problems)
        options = _options(lint, places, all_rules, problems)
        problems.check()
        return cls(
            select=tuple(rules) or (("ALL",) if lint.select is None else lint.select),
            ignore=() if rules else lint.ignore,
            also_ignore=tuple(ignore),
            per_path=lint.per_path_ignores,
            severities=lint.severity,
            rule_options=options,
        )

    def selected(self, rule: Rule, path: str) -> bool:
        """Whether the rule counts in the file `path`, which is relative to the project; "" is the project itself."""
        return self.severity(rule, path) is not None

    def options(self, rule: Rule) -> RuleOptions | None:
        """Return the options of the rule, with its defaults where the settings have none; None: it takes none."""
        if rule.options is None:
            return None
        return self.rule_options[rule.code] if rule.code in self.rule_options else rule.options()

    def rules_for(self, path: str) -> tuple[Rule, ...]:
        """The rules that count in a file, in the order of their codes."""
        words = self._words(path)
        if words not in self._rules_by_words:
            self._rules_by_words[words] = tuple(rule for rule in rules() if self.selected(rule, path))
        return self._rules_by_words[words]

    @cached_property
    def configured_codes(self) -> frozenset[str]:
        """The codes of the rules whose severity the settings say."""
        return frozenset(rule.code for rule in rules() if self.configured(rule) is not None)

    def configured(self, rule: Rule) -> Severity | None:
        """The severity that the settings give the rule; None where they say nothing."""
        weights = {word: value for word in self.severities if (value := weight(word, rule)) is not None}
        return self.severities[max(weights, key=lambda word: weights[word])] if weights else None

    def severity(self, rule: Rule, path: str) -> Severity | None:
        """How much the rule counts in the file; None: not at all."""
        # Asked for each rule in each file, so both answers are kept.
        if rule.code not in self._anywhere:
            selected = closest(self.select, rule) > closest(self.ignore, rule) and closest(self.also_ignore, rule) < 0
            self._anywhere[rule.code] = (self.configured(rule) or rule.severity) if selected else None
        return None if closest(self._words(path), rule) >= 0 else self._anywhere[rule.code]

    def _words(self, path: str) -> tuple[str, ...]:
        """The words of `per_path` for the path."""
        if path not in self._ignored:
            fitting = (words for glob, words in self.per_path.items() if _fits(glob, path))
            self._ignored[path] = tuple(word for words in fitting for word in words)
        return self._ignored[path]

    @cached_property
    def _rules_by_words(self) -> dict[tuple[str, ...], tuple[Rule, ...]]:
        """The rules that count by the words of `per_path` that leave some out."""
        return {}

    @cached_property
    def _anywhere(self) -> dict[str, Severity | None]:
        """The severities by code, whatever the path."""
        return {}

    @cached_property
    def _ignored(self) -> dict[str, tuple[str, ...]]:
        """The words of `per_path` by path."""
        return {}


def fails(report: Report, fail_on: FailOn) -> bool:
    """Whether the report has a finding of the severity `fail_on` or a higher one.

    What was not judged counts as a warning.
    """
    if fail_on == "never":
        return False
    if report.not_judged and fail_on != "error":
        return True
    return any(report.count(severity) for severity in SEVERITIES[: SEVERITIES.index(fail_on) + 1])


def _all() -> tuple[Rule, ...]:
    return rules()


def _check(
    lint: LintSettings, places: TomlTree | None, words: Sequence[str], all_rules: Sequence[Rule], problems: Problems
) -> None:
    for word in words:
        if not match_rules(word, all_rules):
            problems.add("unknown-rule", f'there is no rule "{word}"', None, suggestion(word, all_rules))
    for path, word in _words(lint):
        if not match_rules(word, all_rules):
            at = None
            if places is not None:
                at = places.key_place(path) if path[1] == "severity" else places.place(path)
            problems.add("unknown-rule", f'there is no rule "{word}"', at, suggestion(word, all_rules))


def _options(
    lint: LintSettings, places: TomlTree | None, all_rules: Sequence[Rule], problems: Problems
) -> dict[str, RuleOptions]:
    """Return the options that the settings set, by code."""
    by_code: dict[str, RuleOptions] = {}
    seen: set[str] = set()
    for word, table in lint.rules.items():
        path = ("lint", "rules", word)
        rule = next(
            (candidate for candidate in all_rules if word.upper() == candidate.code or word.lower() == candidate.name),
            None,
        )
        at = places.key_place(path) if places is not None else None
        if rule is None:
            problems.add("unknown-rule", f'there is no rule "{word}"', at, suggestion(word, all_rules))
        elif rule.options is None:
            with_options = ", ".join(candidate.code for candidate in all_rules if candidate.options is not None)
            problems.add("unknown-key", f"rule {rule.code} has no options", at, f"rules with options: {with_options}")
        elif rule.code in seen:
            problems.add("duplicate-key", f"the options of rule {rule.code} appear twice", at, "keep one of the tables")
        else:
            seen.add(rule.code)
            tree = places if places is not None else NoPlaces()
            options = validate(rule.options, table, tree, problems, at=path, of=f"rule {rule.code}")
            if options is not None:
                by_code[rule.code] = options
    return by_code


def _words(lint: LintSettings) -> Iterator[tuple[KeyPath, str]]:
    """The words of the settings, with the keys that they are written under."""
    yield from ((("lint", "select", index), word) for index, word in enumerate(lint.select or ()))
    yield from ((("lint", "ignore", index), word) for index, word in enumerate(lint.ignore))
    for glob, words in lint.per_path_ignores.items():
        yield from ((("lint", "per-path-ignores", glob, index), word) for index, word in enumerate(words))
    yield from ((("lint", "severity", word), word) for word in lint.severity)


def _fits(glob: str, path: str) -> bool:
    pattern = PurePosixPath(glob.removeprefix("/"))
    if len(pattern.parts) == 1:
        pattern = PurePosixPath("**", pattern)
    return bool(path) and holds_path(pattern, PurePosixPath(path))
