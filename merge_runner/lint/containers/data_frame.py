"""DataFrames in Python code as the relations of SQL that they are, as far as their chain of calls says."""

from __future__ import annotations

import ast

from merge_runner.formats.registry import capabilities, table_format_of
from merge_runner.lint.containers.call_chain import Chain, Link
from merge_runner.lint.containers.column_expressions import column_name, identifier, sql_of
from merge_runner.lint.containers.python_values import Values
from merge_runner.lint.containers.relation_text import Relation, table_text
from merge_runner.lint.containers.traced import Traced

_NUMBERED = "merge_runner_rn"


def relation(chain: Chain, values: Values) -> Relation:
    """Return the DataFrame or DeltaTable that a chain gives; what is not known of it is a placeholder for the whole."""
    return _Frame(chain, values).read()


class _Frame:
    def __init__(self, chain: Chain, values: Values) -> None:
        self.chain = chain
        self.values = values
        self.found: Traced | None = None
        self.alias: Traced | None = None

    def read(self) -> Relation:
        links = list(self.chain.links)
        if not links or not self._reads(links):
            self.found, self.alias = self._unknown(self._named()), None
        for link in links:
            if link.call is None and link.name in ("read", "readStream"):
                continue
            self._step(link)
        assert self.found is not None
        return Relation(self.found, self.alias)

    def _reads(self, links: list[Link]) -> bool:
        """Whether the chain begins with a table that is known; its calls are taken off."""
        for number, link in enumerate(links):
            if link.name in ("forName", "forPath", "table", "load", "sql", "toTable") and link.call is not None:
                formats = [each for each in links[:number] if each.name == "format"]
                last = link.call.args[-1] if link.call.args else None
                given = last or link.argument(0, "tableOrViewName", "path", "tableName")
                text = self.values.text(given, link.use) if given is not None else None
                if text is None and given is not None:
                    text = self.values.hole(given, link.use)
                if text is None or not self._begins(link, text, formats):
                    return False
                del links[: number + 1]
                return True
        return False

    def _begins(self, link: Link, text: Traced, formats: list[Link]) -> bool:
        if link.name in ("forPath", "load"):
            kind = formats[-1].argument(0) if formats else None
            name = kind.value if isinstance(kind, ast.Constant) and isinstance(kind.value, str) else None
            format = table_format_of(name)
            # A table that needs no catalog is a folder.
            if link.name == "load" and (format is None or capabilities(format).catalog_class is not None):
                return False
        self.found = table_text("forPath" if link.name == "load" else link.name or "", link, text)
        return self.found is not None

    def _step(self, link: Link) -> None:
        name, given = link.name, link.call.args if link.call is not None else []
        if name in ("alias", "as_") and len(given) == 1:
            text = self.values.text(given[0], link.use)
            text = text if text is not None else self.values.hole(given[0], link.use)
            self.alias = identifier(text) if text else None
        elif name in ("toDF", "cache", "persist", "coalesce", "repartition", "hint", "checkpoint", "localCheckpoint"):
            if name == "toDF" and given:
                self._lose(link)
        elif name in ("where", "filter") and len(given) == 1:
            condition = sql_of(given[0], link.use, self.values)
            self._select(link, link.made("*"), link.made(" where ") + condition)
        elif name == "distinct" or (name in ("dropDuplicates", "drop_duplicates") and not given):
            self._select(link, link.made("distinct *"), Traced())
        elif name in ("dropDuplicates", "drop_duplicates"):
            self._deduplicate(link, given[0])
        elif name == "select" and given:
            self._columns(link, given)
        else:
            self._lose(link)

    def _columns(self, link: Link, given: list[ast.expr]) -> None:
        columns = [self.values.text(each, link.use) for each in given]
        known = [column_name(each) if each.text != "*" else each for each in columns if each is not None]
        if len(known) < len(columns):
            self._lose(link)
        else:
            self._select(link, _listed(known, link), Traced())

    def _deduplicate(self, link: Link, keys: ast.expr) -> None:
        listed = self.values.items(keys, link.use)
        columns = [self.values.text(each, use) for each, use in listed or ()]
        known = [column_name(each) for each in columns if each is not None]
        if not known or len(known) < len(columns):
            self._lose(link)
            return
        keyed = _listed(known, link)
        number = link.made("row_number() over (partition by ") + keyed + link.made(" order by ") + keyed
        self._select(link, link.made("*, ") + number + link.made(f") as {_NUMBERED}"), Traced())
        self._select(link, link.made(f"* except ({_NUMBERED})"), link.made(f" where {_NUMBERED} = 1"))

    def _select(self, link: Link, columns: Traced, rest: Traced) -> None:
        if self.found is None:
            return
        origin = Relation(self.found, self.alias).aliased
        self.values.budget.characters(len(origin.text))
        # An alias that was given before still names the rows in the conditions that follow.
        self.found = link.made("(select ") + columns + link.made(" from ") + origin + rest + link.made(")")

    def _lose(self, link: Link) -> None:
        self.found = self._unknown(self._named())

    def _named(self) -> str:
        """What the author calls the DataFrame: the variable that it is in."""
        return self.chain.name or "…"

    def _unknown(self, name: str) -> Traced:
        return Traced.filled(name, self.chain.use.file.origin(self.chain.root))


def _listed(parts: list[Traced], link: Link) -> Traced:
    found = parts[0]
    for part in parts[1:]:
        found = found + link.made(", ") + part
    return found
